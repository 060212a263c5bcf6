import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Bundle, RunRequest, Task } from '#sandbox/protocol/contract.ts'
import { openSandbox } from '#sandbox/open-sandbox.ts'
import { readLimits } from '#shared/config/limit-settings.ts'
import { hookNames, incomingMessageStages, turnEndStage } from '#shared/models/bot-code.ts'
import { botOperations } from '#shared/router.ts'
import { limitsOf } from '../../../worker/execution/limits.ts'
import type { EchoBot } from './echo-bots.ts'
import { measureEvents, measureRestarts, measureStarts, type Handle, type Measured } from './measure.ts'
import { replyTo } from './platform.ts'

export interface MeasuredSandbox extends Measured {
  /** Resident memory per isolate; absent on systems that do not report it. */
  megabytes?: number
}

const defaultLimits = limitsOf(readLimits({}))

/** More than the isolates of a sandbox process with the default memory. */
const othersUntilEvicted = 220

/** A sandbox configured as in the worker, with one process, which has run no bot. */
interface FreshSandbox {
  start(): Promise<Handle>
  /** Runs bots until the isolates of all others are evicted. */
  evict(): Promise<void>
  residentMegabytes(): Promise<number | undefined>
}

/** Measures a bot in a sandbox that has run no other bot. */
export async function measureInSandbox(bot: EchoBot, parts: AsyncDisposableStack): Promise<MeasuredSandbox> {
  const { start, residentMegabytes } = await openFreshSandbox(bot, parts)
  // The first start includes the process's one-time costs.
  await start()
  const before = await residentMegabytes()
  const { cold, handle, starts } = await measureStarts(start)
  const after = await residentMegabytes()
  const warm = await measureEvents(handle)
  // In a process of its own: those many starts use up what a process may spend on code caches.
  const other = await openFreshSandbox(bot, parts)
  const again = await measureRestarts(await other.start(), () => other.evict())
  return { cold, again, warm, ...(before && after && { megabytes: (after - before) / starts }) }
}

async function openFreshSandbox(bot: EchoBot, parts: AsyncDisposableStack): Promise<FreshSandbox> {
  let pid = 0
  const sandbox = parts.adopt(
    await openSandbox({
      processes: 1,
      operations: botOperations.map(({ name, method, path }) => ({ name, method, path })),
      hooks: hookNames,
      log: (_level, _message, details) => {
        if (details && 'sandboxPid' in details) pid = Number(details.sandboxPid)
      },
    }),
    (open) => open.close(),
  )

  async function start(): Promise<Handle> {
    const { kind, code, environment } = bot
    // A new id makes a new isolate.
    const bundle: Bundle = { id: randomUUID(), botId: 'bot_1', kind, code, environment }
    const handle = async () => {
      let calls = 0
      const run: RunRequest = {
        id: randomUUID(),
        bundle,
        task: taskOf(bot),
        limits: defaultLimits,
        host: async ({ method, path }) => {
          calls++
          return replyTo(method, path)
        },
      }
      const outcome = await sandbox.run(run)
      if (outcome.status === 'done' && calls === bot.calls) return
      throw new Error(`The ${kind} bot failed in the sandbox after ${calls} calls: ${JSON.stringify(outcome)}`)
    }
    await handle()
    return handle
  }

  async function callOther(): Promise<void> {
    const bundle: Bundle = { id: randomUUID(), botId: 'bot_2', code: 'exports.handler = () => 1' }
    const task: Task = { kind: 'call', path: ['handler'], argument: {}, addsContext: true, streamPrefix: 'evt_1/' }
    await sandbox.run({
      id: randomUUID(),
      bundle,
      task,
      limits: defaultLimits,
      host: async () => ({ status: 404, body: {} }),
    })
  }

  async function evict(): Promise<void> {
    for (let count = 0; count < othersUntilEvicted; count++) await callOther()
  }

  return { start, evict, residentMegabytes: () => residentMegabytes(pid) }
}

function taskOf({ kind, input }: EchoBot): Task {
  const streamPrefix = 'evt_1/'
  if (kind === 'sdk') return { kind: 'call', path: ['handler'], argument: input, addsContext: false, streamPrefix }
  return { kind: 'event', event: input, stages: [...incomingMessageStages], finally: turnEndStage, streamPrefix }
}

async function residentMegabytes(pid: number): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined
  const status = await readFile(`/proc/${pid}/status`, 'latin1')
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1]) / 1024
}

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Bundle, Outcome, RunRequest } from '#sandbox/protocol/contract.ts'
import type { Sandbox } from '#sandbox/sandbox.ts'
import { openSandbox } from '#sandbox/open-sandbox.ts'
import { readLimits } from '#shared/config/limit-settings.ts'
import { hookNames } from '#shared/models/bot-code.ts'
import { limitsOf } from '../../worker/execution/limits.ts'
import type { Options } from './options.ts'
import { spread, table } from './report.ts'

/**
 * Code that does not end by itself. A native function does not check for termination, so its process has to be killed.
 */
const endless = {
  waits: 'await new Promise(() => {})',
  'is busy': 'for (;;);',
  'is busy in a native': 'new Array(2 ** 32 - 2).indexOf(1)',
}

/** Target: the run is over within this time after its limit. */
const maxMilliseconds = 2000
const wallMilliseconds = 400
const limits = { ...limitsOf(readLimits({})), wallMilliseconds, cpuMilliseconds: 60_000 }
const timesEach = 5
/** Within this time, a killed process is replaced. */
const afterMilliseconds = 1500

/** Of several runs, each in milliseconds: the time from its limit to its end, and the neighbour's longest wait. */
interface Ending {
  what: string
  late: number[]
  waits: number[]
}

/** Measures how soon endless code is stopped, and how long a bot beside it waits. */
export async function measureEndings({ rounds }: Options, parts: AsyncDisposableStack): Promise<Ending[]> {
  await using own = parts.use(new AsyncDisposableStack())
  const sandbox = own.adopt(
    await openSandbox({ processes: 1, operations: [], hooks: hookNames, log: () => {} }),
    (open) => open.close(),
  )
  const endings: Ending[] = []
  for (const [what, body] of Object.entries(endless)) {
    const ending: Ending = { what, late: [], waits: [] }
    for (let count = 0; count < rounds * timesEach; count++) {
      const { late, wait } = await measureEnding(sandbox, body)
      ending.late.push(late)
      ending.waits.push(wait)
    }
    endings.push(ending)
  }
  return endings
}

async function measureEnding(sandbox: Sandbox, body: string): Promise<{ late: number; wait: number }> {
  let isOver = false
  const waiting = longestWait(sandbox, () => isOver)
  const begin = performance.now()
  const { status } = await run(sandbox, makeBundle(body))
  const late = performance.now() - begin - wallMilliseconds
  await pause(afterMilliseconds)
  isOver = true
  if (status !== 'failed') throw new Error(`Code that does not end was ${status}: ${body}`)
  return { late, wait: await waiting }
}

/** The longest run of a neighbour with an empty function; an interrupted run is repeated, as in a worker. */
async function longestWait(sandbox: Sandbox, isOver: () => boolean): Promise<number> {
  const neighbour = makeBundle('')
  let longest = 0
  while (!isOver()) {
    const begin = performance.now()
    while ((await run(sandbox, neighbour)).status !== 'done');
    longest = Math.max(longest, performance.now() - begin)
    await pause(1)
  }
  return longest
}

/** Makes a bundle of a bot of its own. */
function makeBundle(body: string): Bundle {
  return { id: randomUUID(), botId: randomUUID(), code: `exports.handle = async () => { ${body} }` }
}

function run(sandbox: Sandbox, bundle: Bundle): Promise<Outcome> {
  const task: RunRequest['task'] = { kind: 'call', path: ['handle'], argument: {}, addsContext: true, streamPrefix: '' }
  return sandbox.run({ id: randomUUID(), bundle, task, limits, host: () => Promise.reject(new Error('No calls')) })
}

/** Makes the Markdown table of endings and waits. */
export function endingsTable(endings: Ending[]): string {
  return table(
    ['code that', `is over, ms after its limit (aim: ≤ ${maxMilliseconds})`, 'longest wait of a neighbour, ms'],
    endings.map(({ what, late, waits }) => [what, spread(late), spread(waits)]),
  )
}

import { randomUUID } from 'node:crypto'
import type { Bundle, JsonObject, RunRequest } from '#sandbox/protocol/contract.ts'
import { openSandbox } from '#sandbox/open-sandbox.ts'
import { readLimits } from '#shared/config/limit-settings.ts'
import { hookNames } from '#shared/models/bot-code.ts'
import { botOperations } from '#shared/router.ts'
import { limitsOf } from '../../../worker/execution/limits.ts'
import { answerQuestions } from '../asked-process.ts'
import { replyTo } from '../bundles/platform.ts'
import { botSource, type BotKind, type BotOutput } from './bots.ts'
import { measureBots, type Bot } from './measure.ts'

/**
 * Our side: a process with a sandbox configured as in the worker, with one sandbox process, which replies to the bots'
 * calls.
 */

const sandbox = await openSandbox({
  processes: 1,
  // Enough for all bots: `capacity.ts` measures how many fit in less.
  memoryMegabytes: 1024,
  operations: botOperations.map(({ name, method, path }) => ({ name, method, path })),
  hooks: hookNames,
  log: () => {},
})
process.on('disconnect', () => void sandbox.close())

const limits = limitsOf(readLimits({}))

answerQuestions(measureBots(startBot))

async function startBot(kind: BotKind): Promise<Bot> {
  const code = `const handle = ${botSource(kind)}; exports.handle = ({ client, ...input }) => handle(input, client)`
  // A new id makes a new isolate.
  const id = randomUUID()
  const bundle: Bundle = { id, botId: id, code }
  return { call: (input) => call(bundle, input) }
}

async function call(bundle: Bundle, argument: JsonObject): Promise<BotOutput> {
  const run: RunRequest = {
    id: randomUUID(),
    bundle,
    task: { kind: 'call', path: ['handle'], argument, addsContext: true, streamPrefix: '' },
    limits,
    host: async ({ method, path }) => replyTo(method, path),
  }
  const outcome = await sandbox.run(run)
  if (outcome.status === 'done') return outcome.result as unknown as BotOutput
  throw new Error(`A bot failed in the sandbox: ${JSON.stringify(outcome)}`)
}

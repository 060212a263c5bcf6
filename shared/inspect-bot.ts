import { awaitOutcome } from './await-outcome.ts'
import { compileBot, firstPosition, positionOfName, refusal, type CompiledBot } from './compile-bot.ts'
import type { Context } from './context.ts'
import { newId } from './ids.ts'
import { retryPolicy, type BotDeclaration, type InspectionOutcome } from './models/bot-code.ts'
import { compile, describeErrors } from './schema.ts'
import { deleteInspection, findInspection, insertInspection } from './store/inspections.ts'

const inspectionTimeoutMilliseconds = 30_000

const isRetryPolicy = compile(retryPolicy, 'body')

/** Code that was compiled, evaluated once in an isolate of a worker, and found fit to be deployed. */
export type InspectedBot = CompiledBot & BotDeclaration

/**
 * Compiles uploaded code and has a worker say what it declares.
 *
 * @throws ApiError `InvalidPayload` when the code does not parse, throws while it loads, or declares what is no hook
 * @throws ApiError `OperationTimeout` when no worker answers
 */
export async function inspectBot(context: Context, workspaceId: string, source: string): Promise<InspectedBot> {
  const compiled = await compileBot(source)
  const outcome = await askWorker(context, workspaceId, compiled.script)
  if (outcome.status === 'refused') {
    const { error, hook } = outcome
    const at = hook ? positionOfName(source, hook) : firstPosition(error.stack ?? '', compiled.sourceMap)
    throw refusal(hook ? error.message : `${error.name}: ${error.message}`, at)
  }
  const { hooks, actions, retry } = outcome
  if (retry === undefined) return { ...compiled, hooks, actions }
  if (!isRetryPolicy(retry)) throw refusal(`retry: ${describeErrors(isRetryPolicy)}`, positionOfName(source, 'retry'))
  return { ...compiled, hooks, actions, retry }
}

async function askWorker(context: Context, workspaceId: string, script: string): Promise<InspectionOutcome> {
  const { db, queue, signals } = context
  const id = newId('check')
  try {
    return await awaitOutcome(signals, id, {
      async ask() {
        await insertInspection(db, { id, workspaceId, script })
        await queue.inspect(id)
      },
      look: async () => ((await findInspection(db, id))?.outcome ?? undefined) as InspectionOutcome | undefined,
      timeoutMilliseconds: inspectionTimeoutMilliseconds,
      timeoutMessage:
        'No worker looked at the code within 30 s, so nothing was changed: see that a worker runs, then try again',
    })
  } finally {
    await deleteInspection(db, id)
  }
}

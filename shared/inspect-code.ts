import { awaitOutcome } from './await-outcome.ts'
import {
  asSdkBundle,
  compileBot,
  firstPosition,
  importsOf,
  positionOfName,
  refusal,
  type CompiledBot,
} from './compile-bot.ts'
import type { Context } from './context.ts'
import { newId } from './ids.ts'
import {
  retryPolicy,
  sdkModules,
  type BotDeclaration,
  type InspectedScript,
  type InspectionOutcome,
} from './models/bot-code.ts'
import { compile, describeErrors } from './schema.ts'
import { deleteInspection, findInspection, insertInspection } from './store/inspections.ts'

const inspectionTimeoutMilliseconds = 30_000

const isRetryPolicy = compile(retryPolicy, 'body')

/** Code that was compiled, evaluated once in an isolate of a worker, and found fit to be put in service. */
export type InspectedCode = CompiledBot & BotDeclaration

/**
 * Compiles the code of a bot or an integration, tells of which kind it is, and has a worker say what it declares.
 *
 * @throws ApiError `InvalidPayload` when the code does not parse, throws while it loads, declares what is no hook, or is
 *   a bundle that asks for a module which no isolate gives
 * @throws ApiError `OperationTimeout` when no worker answers
 */
export async function inspectCode(context: Context, workspaceId: string, source: string): Promise<InspectedCode> {
  const compiled = await compileBot(source)
  if (compiled.isCommonJs && /\bhandler\b/.test(source)) {
    refuseUnavailable(await importsOf(source))
    const bundle = await inspect(context, workspaceId, asSdkBundle(source))
    if (bundle.exports.includes('handler')) return bundle
  }
  return inspect(context, workspaceId, compiled)
}

function refuseUnavailable(imports: string[]): void {
  const missing = imports.filter((name) => !sdkModules.has(name.replace(/^node:/, '')))
  if (missing.length === 0) return
  const names = missing.map((name) => `'${name}'`).join(', ')
  throw refusal(`the bundle asks for ${names}; an isolate gives only ${[...sdkModules].join(', ')}`, null)
}

async function inspect(context: Context, workspaceId: string, compiled: CompiledBot): Promise<InspectedCode> {
  const { source, sourceMap } = compiled
  const outcome = await askWorker(context, workspaceId, compiled)
  if (outcome.status === 'refused') {
    const { error, hook } = outcome
    const at = hook ? positionOfName(source, hook) : firstPosition(error.stack ?? '', sourceMap)
    throw refusal(hook ? error.message : `${error.name}: ${error.message}`, at)
  }
  const { hooks, actions, exports, channels, retry } = outcome
  const inspected = { ...compiled, hooks, actions, exports, channels }
  if (retry === undefined) return inspected
  if (!isRetryPolicy(retry)) throw refusal(`retry: ${describeErrors(isRetryPolicy)}`, positionOfName(source, 'retry'))
  return { ...inspected, retry }
}

async function askWorker(
  context: Context,
  workspaceId: string,
  { kind, script }: InspectedScript,
): Promise<InspectionOutcome> {
  const { db, queue, signals } = context
  const id = newId('check')
  try {
    return await awaitOutcome(signals, id, {
      async ask() {
        await insertInspection(db, { id, workspaceId, kind, script })
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

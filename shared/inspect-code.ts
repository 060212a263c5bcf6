import { awaitOutcome } from './await-outcome.ts'
import {
  asSdkBundle,
  compileBot,
  firstPosition,
  positionOfName,
  refusal,
  refuseImports,
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
import { limitHint, type OwnLimits } from './models/code-limits.ts'
import { compile, describeErrors } from './schema.ts'
import { deleteInspection, findInspection, insertInspection } from './store/inspections.ts'

const inspectionTimeoutMilliseconds = 30_000

const isRetryPolicy = compile(retryPolicy, 'body')

/** Code as an administrator sends it. */
export interface UploadedCode {
  code: string
  /** Of a bundle, as JSON. */
  sourceMap?: string | undefined
  /** Those that it is to run under. */
  limits?: OwnLimits | undefined
}

/** Code that was compiled, evaluated once in an isolate of a worker, and found fit to be put in service. */
export type InspectedCode = CompiledBot & BotDeclaration

/**
 * Compiles the code of a bot or an integration, tells of which kind it is, and has a worker say what it declares.
 *
 * @throws ApiError `InvalidPayload` when the code does not parse, throws while it loads, declares what is no hook, or is
 *   a bundle that asks for a module which no isolate gives
 * @throws ApiError `OperationTimeout` when no worker answers
 */
export async function inspectCode(
  context: Context,
  workspaceId: string,
  { code: source, sourceMap, limits = {} }: UploadedCode,
): Promise<InspectedCode> {
  const compiled = await compileBot(source, sourceMap)
  if (compiled.isCommonJs && /\bhandler\b/.test(source)) {
    await refuseImports(source, sdkModules)
    const bundle = await inspect(context, workspaceId, asSdkBundle(source, sourceMap), limits)
    if (bundle.exports.includes('handler')) return bundle
  }
  await refuseImports(source)
  return inspect(context, workspaceId, compiled, limits)
}

async function inspect(
  context: Context,
  workspaceId: string,
  compiled: CompiledBot,
  limits: OwnLimits,
): Promise<InspectedCode> {
  const { source, sourceMap } = compiled
  const outcome = await askWorker(context, workspaceId, { ...compiled, limits })
  if (outcome.status === 'refused') {
    const { reason, error, hook } = outcome
    const at = hook ? positionOfName(source, hook) : firstPosition(error.stack ?? '', sourceMap)
    const problem = hook ? error.message : `${error.name}: ${error.message}`
    throw refusal(problem + limitHint(reason, error.name), at)
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
  { kind, script, limits }: InspectedScript,
): Promise<InspectionOutcome> {
  const { db, queue, signals } = context
  const id = newId('check')
  try {
    return await awaitOutcome(signals, id, {
      async ask() {
        await insertInspection(db, { id, workspaceId, kind, script, limits })
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

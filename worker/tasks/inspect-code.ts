import {
  CompilerError,
  type Compilation,
  type Compiled,
  type ReadBundle,
  type Script,
} from '#sandbox/compiler/contract.ts'
import { flowsFile } from '#sandbox/compiler/esbuild.ts'
import { refusedImport } from '#sandbox/compiler/refused-import.ts'
import { publishOutcome } from '#shared/signals/after-commit.ts'
import { ApiError, isUnstorable } from '#shared/errors.ts'
import { checkFlows, InvalidFlowsError } from '#shared/flows/check-flows.ts'
import { writeFlowScript, type FlowScript } from '#shared/flows/flow-script.ts'
import { InterruptedError } from '#shared/queue/queue.ts'
import { findInspection, setInspectionOutcome, type StoredCode } from '#shared/store/inspections.ts'
import type { CodeKind } from '#shared/models/tables.ts'
import type { Inspection, RunError } from '#sandbox/protocol/contract.ts'
import { secretRedactor } from '#sandbox/protocol/redact-secrets.ts'
import { readSecrets } from '#shared/store/named-secrets.ts'
import { inspectionEnvironment } from '../code/bundles.ts'
import { agentLimits, isAgent } from '../code/agent-runtime.ts'
import { limitsOf } from '../execution/limits.ts'
import type { WorkerContext } from '../context.ts'
import { flowRefusal, interruptedAgain, refusal, toRefusal } from '../inspection/refusals.ts'
import { toJson, toResult, type Result, type Upload } from '../inspection/result.ts'

const flowsOfSdk = 'a bundle of the public SDK has no flows: its handler decides what happens'

/** The attempt from which on an interruption refuses the upload; of the first one, another upload in the same process may be the cause. */
const lastAttempt = 2

/**
 * Compiles uploaded code, evaluates it once, and publishes its declaration to the waiting request.
 *
 * @param earlierAttempts attempts of the job that failed before this one
 * @throws InterruptedError when the inspection was interrupted: the job is requeued at once
 */
export async function inspectCode(
  worker: WorkerContext,
  { inspectionId, workspaceId }: { inspectionId: string; workspaceId: string },
  earlierAttempts: number,
): Promise<void> {
  const { db, sandbox } = worker
  const { compiler } = sandbox
  let upload: Upload | undefined
  // An upload is read only when the compiler is free: many may wait, and each is large.
  const bundle = await compiler
    .readBundle(workspaceId, async () => {
      upload = await findInspection(db, inspectionId)
      return upload && !upload.stored && mayBeBundle(upload) ? toSource(upload) : undefined
    })
    .catch(interrupted)
  // The inspection was deleted, because the request has timed out.
  if (upload === undefined) return
  const { outcome, code } = await inspectUpload(worker, upload, bundle).catch((error: unknown): Result => {
    if (!(error instanceof EvaluationInterrupted) || earlierAttempts + 1 < lastAttempt) throw error
    return { outcome: interruptedAgain(error.reason, earlierAttempts + 1) }
  })
  try {
    await setInspectionOutcome(db, inspectionId, outcome, code)
  } catch (error) {
    if (!isUnstorable(error)) throw error
    await setInspectionOutcome(db, inspectionId, refusal(ApiError.from(error).message, undefined))
  }
  await publishOutcome(worker, inspectionId)
}

async function inspectUpload(worker: WorkerContext, upload: Upload, bundle: ReadBundle | undefined): Promise<Result> {
  return (
    (upload.stored && (await inspectStored(worker, upload, upload.stored))) ??
    (bundle && (await inspectBundle(worker, upload, bundle))) ??
    (await compileAndInspect(worker, upload))
  )
}

/** The sandbox process ended while it evaluated an upload. */
class EvaluationInterrupted extends InterruptedError {
  readonly reason: string

  constructor(reason: string) {
    super(`The inspection was interrupted: ${reason}`)
    this.reason = reason
  }
}

/** Whether an upload has the words of a bundle of the public SDK. */
function mayBeBundle({ source, flows }: Upload): boolean {
  return flows === null && /\bexports\b/.test(source) && /\bhandler\b/.test(source)
}

function toSource({ source, given_map: sourceMap }: Upload) {
  return { source, sourceMap: sourceMap ?? undefined }
}

function interrupted(error: unknown): never {
  throw error instanceof CompilerError ? new InterruptedError(error.message) : error
}

/**
 * Evaluates code that an earlier upload has compiled: with other secrets or limits it may declare something else.
 *
 * @returns undefined when it exports no handler any more, and has to be compiled as other code
 */
async function inspectStored(worker: WorkerContext, upload: Upload, stored: StoredCode): Promise<Result | undefined> {
  const { kind, script: code, source_map: sourceMap, files } = stored
  const script = { code, sourceMap }
  const inspection = await evaluate(worker, upload, kind, script)
  const isOther = kind === 'sdk' && inspection.status === 'accepted' && !inspection.exports.includes('handler')
  return isOther ? undefined : toResult(worker, upload, files, { kind, script, inspection })
}

/**
 * Evaluates a bundle of the public SDK, as it is.
 *
 * @returns undefined when it is none, or not valid code
 */
async function inspectBundle(
  worker: WorkerContext,
  upload: Upload,
  { script, files }: ReadBundle,
): Promise<Result | undefined> {
  const inspection = await evaluate(worker, upload, 'sdk', script)
  const isInvalid = inspection.status === 'refused' && inspection.error.name === 'SyntaxError'
  const hasHandler = inspection.status === 'refused' || inspection.exports.includes('handler')
  if (isInvalid || !hasHandler) return undefined
  return toResult(worker, upload, toJson(files), { kind: 'sdk', script, inspection })
}

async function compileAndInspect(worker: WorkerContext, upload: Upload): Promise<Result> {
  try {
    const flows = openFlows(upload)
    const compiled = await worker.sandbox.compiler
      .compile(upload.workspace_id, async () => ({ ...toSource(upload), flows: flows?.text }))
      .catch(interrupted)
    return await toResultOf(worker, upload, flows, compiled)
  } catch (error) {
    if (error instanceof InvalidFlowsError) return { outcome: flowRefusal(error) }
    throw error
  }
}

/** @throws InvalidFlowsError when the flows beside the code are not valid */
function openFlows({ flows }: Upload): FlowScript | undefined {
  if (flows === null) return undefined
  const given = JSON.parse(flows) as unknown
  checkFlows(given)
  const { text, placeOf } = writeFlowScript(given)
  return { text: `module.flows = ${text}`, placeOf }
}

/** @throws InvalidFlowsError when flows are not valid */
async function toResultOf(
  worker: WorkerContext,
  upload: Upload,
  flows: FlowScript | undefined,
  compiled: Compilation,
): Promise<Result> {
  if (compiled.status === 'refused' && compiled.at?.file === flowsFile) {
    const { problem, at } = compiled
    throw new InvalidFlowsError([{ ...flows?.placeOf(at.line), problem }])
  }
  return compiled.status === 'compiled' ? inspect(worker, upload, compiled) : { outcome: toRefusal(compiled) }
}

async function inspect(worker: WorkerContext, upload: Upload, compiled: Compiled): Promise<Result> {
  const { native, flows, imports } = compiled
  if (!compiled.isModule && flows !== undefined && /\bhandler\b/.test(upload.source)) {
    return { outcome: refusal(flowsOfSdk, undefined) }
  }
  const refused = refusedImport(imports)
  if (refused) return { outcome: refusal(refused.problem, refused.at) }
  const script = flows === undefined ? native : { ...native, code: `${native.code}\n;${flows}` }
  const inspection = await evaluate(worker, upload, 'native', script)
  return toResult(worker, upload, toJson(compiled.files), { kind: 'native', script, inspection })
}

async function evaluate(
  { sandbox, config }: WorkerContext,
  { id, workspace_id: botId, limits, secrets }: Upload,
  kind: CodeKind,
  { code }: Script,
): Promise<Exclude<Inspection, { status: 'interrupted' }>> {
  const environment = inspectionEnvironment(
    config,
    { kind, script: code },
    await readSecrets(config.secret, { id, secrets }),
  )
  const bundle = { id: `${id}/${kind}`, botId, kind, code, environment }
  const inspection = await sandbox.inspect(
    bundle,
    limitsOf(config.sandbox, limits, kind === 'sdk' && isAgent(code) ? agentLimits : {}),
  )
  if (inspection.status === 'accepted') return inspection
  if (inspection.status === 'refused') return { ...inspection, error: withoutSecrets(inspection.error, environment) }
  throw new EvaluationInterrupted(inspection.reason)
}

/** Code may throw what it reads. */
function withoutSecrets({ name, message, stack }: RunError, environment: Record<string, string>): RunError {
  const redact = secretRedactor(environment)
  return { name: redact(name), message: redact(message), ...(stack !== undefined && { stack: redact(stack) }) }
}

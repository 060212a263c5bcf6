import { CompilerError, type Compilation, type Compiled, type Script } from '#sandbox/compiler/contract.ts'
import { flowsFile } from '#sandbox/compiler/esbuild.ts'
import { refusedImport } from '#sandbox/compiler/refused-import.ts'
import { firstPosition, positionOfName, sourceFile, type SourcePosition } from '#sandbox/compiler/source-map.ts'
import { publishOutcome } from '#shared/signals/after-commit.ts'
import { ApiError, isUnstorable } from '#shared/errors.ts'
import { checkFlows, InvalidFlowsError } from '#shared/flows/check-flows.ts'
import { writeFlowScript, type FlowScript } from '#shared/flows/flow-script.ts'
import { retryPolicy, type CompiledCode, type InspectionOutcome } from '#shared/models/bot-code.ts'
import { limitHint } from '#shared/config/code-limits.ts'
import { InterruptedError } from '#shared/queue/queue.ts'
import { compile, describeErrors } from '#shared/schema.ts'
import { findInspection, setInspectionOutcome } from '#shared/store/inspections.ts'
import type { CodeKind } from '#shared/models/tables.ts'
import type { Inspection } from '#sandbox/protocol/contract.ts'
import { limitsOf } from '../execution/limits.ts'
import type { WorkerContext } from '../context.ts'

const isRetryPolicy = compile(retryPolicy, 'body')

type Upload = NonNullable<Awaited<ReturnType<typeof findInspection>>>
type Refused = Extract<InspectionOutcome, { status: 'refused' }>
type Result = { outcome: InspectionOutcome; code?: CompiledCode }

/**
 * Compiles uploaded code, evaluates it once, and publishes its declaration to the waiting request.
 *
 * @throws InterruptedError when the inspection was interrupted: the job is requeued at once
 */
export async function inspectCode(
  worker: WorkerContext,
  { inspectionId, workspaceId }: { inspectionId: string; workspaceId: string },
): Promise<void> {
  const { db, sandbox } = worker
  let upload: Upload | undefined
  let flows: FlowScript | undefined
  const compiled = await sandbox.compiler
    // The upload is read only when the compiler is free: many may wait, and each is large.
    .compile(workspaceId, async () => {
      upload = await findInspection(db, inspectionId)
      flows = upload && openFlows(upload)
      return upload && { source: upload.source, sourceMap: upload.given_map ?? undefined, flows: flows?.text }
    })
    .catch((error: unknown) => {
      if (error instanceof InvalidFlowsError) return error
      throw error instanceof CompilerError ? new InterruptedError(error.message) : error
    })
  // The inspection was deleted, because the request has timed out.
  if (upload === undefined || compiled === undefined) return
  const { outcome, code } = await toOutcome(worker, upload, flows, compiled)
  try {
    await setInspectionOutcome(db, inspectionId, outcome, code)
  } catch (error) {
    if (!isUnstorable(error)) throw error
    await setInspectionOutcome(db, inspectionId, refusal(ApiError.from(error).message, undefined))
  }
  await publishOutcome(worker, inspectionId)
}

/** @throws InvalidFlowsError when the flows beside the code are not valid */
function openFlows({ flows }: Upload): FlowScript | undefined {
  if (flows === null) return undefined
  const given = JSON.parse(flows) as unknown
  checkFlows(given)
  const { text, placeOf } = writeFlowScript(given)
  return { text: `module.flows = ${text}`, placeOf }
}

async function toOutcome(
  worker: WorkerContext,
  upload: Upload,
  flows: FlowScript | undefined,
  compiled: Compilation | InvalidFlowsError,
): Promise<Result> {
  if (compiled instanceof InvalidFlowsError) return { outcome: flowRefusal(compiled) }
  if (compiled.status === 'refused' && compiled.at?.file === flowsFile) {
    const { problem, at } = compiled
    return { outcome: flowRefusal(new InvalidFlowsError([{ ...flows?.placeOf(at.line), problem }])) }
  }
  if (compiled.status !== 'compiled') return { outcome: toRefusal(compiled) }
  try {
    return await inspect(worker, upload, compiled)
  } catch (error) {
    if (error instanceof InvalidFlowsError) return { outcome: flowRefusal(error) }
    throw error
  }
}

/** Evaluates the upload as a bundle of the public SDK where it may be one, else as a module. */
async function inspect(worker: WorkerContext, upload: Upload, compiled: Compiled): Promise<Result> {
  const { source } = upload
  if (compiled.asIs && /\bhandler\b/.test(source)) {
    if (compiled.flows !== undefined) return { outcome: refusal(flowsOfSdk, undefined) }
    const bundle = await evaluate(worker, upload, 'sdk', compiled.asIs)
    if (bundle.status === 'refused' || bundle.exports.includes('handler')) {
      return toResult(worker, upload, compiled, { kind: 'sdk', script: compiled.asIs, inspection: bundle })
    }
  }
  const refused = refusedImport(compiled.imports)
  if (refused) return { outcome: refusal(refused.problem, refused.at) }
  const { native, flows } = compiled
  const script = flows === undefined ? native : { ...native, code: `${native.code}\n;${flows}` }
  const inspection = await evaluate(worker, upload, 'native', script)
  return toResult(worker, upload, compiled, { kind: 'native', script, inspection })
}

async function evaluate(
  { sandbox, config }: WorkerContext,
  { id, workspace_id: botId, limits }: Upload,
  kind: CodeKind,
  { code }: Script,
): Promise<Exclude<Inspection, { status: 'interrupted' }>> {
  const inspection = await sandbox.inspect({ id: `${id}/${kind}`, botId, kind, code }, limitsOf(config.sandbox, limits))
  if (inspection.status !== 'interrupted') return inspection
  throw new InterruptedError(`The inspection was interrupted: ${inspection.reason}`)
}

const flowsOfSdk = 'a bundle of the public SDK has no flows: its handler decides what happens'

interface Evaluated {
  kind: CodeKind
  script: Script
  inspection: Exclude<Inspection, { status: 'interrupted' }>
}

async function toResult(
  { sandbox }: WorkerContext,
  { source, flows: given, workspace_id: workspaceId }: Upload,
  { files }: Compiled,
  { kind, script, inspection }: Evaluated,
): Promise<Result> {
  if (inspection.status === 'refused') {
    const { reason, error, hook } = inspection
    const { stack = '' } = error
    const map = hook || stack === '' ? undefined : await sandbox.compiler.readSourceMap(workspaceId, script.sourceMap)
    const at = hook ? positionOfName(source, hook) : firstPosition(stack, map)
    const problem = hook ? error.message : `${error.name}: ${error.message}`
    return { outcome: refusal(problem + limitHint(reason, error.name), at) }
  }
  const { kind: _kind, retry, flows: exported, ...declared } = inspection
  if (exported !== undefined) checkFlows(exported)
  const hasFlowsInCode = exported !== undefined
  const flows = given ?? (exported === undefined ? null : JSON.stringify(exported))
  const code = { kind, script: script.code, sourceMap: script.sourceMap, files: toJson(files), flows, hasFlowsInCode }
  if (retry === undefined) return { outcome: declared, code }
  if (isRetryPolicy(retry)) return { outcome: { ...declared, retry }, code }
  return { outcome: refusal(`retry: ${describeErrors(isRetryPolicy)}`, positionOfName(source, 'retry')) }
}

function toJson(files: Compiled['files']): string | null {
  return files.length === 0 ? null : JSON.stringify(files)
}

/** A refusal that names the flow, node, card and field at fault. */
function flowRefusal({ message, first }: InvalidFlowsError): Refused {
  const { problem: _problem, ...place } = first
  return { status: 'refused', type: 'InvalidPayload', message, metadata: place }
}

function toRefusal(compiled: Exclude<Compilation, Compiled>): Refused {
  if (compiled.status === 'refused') return refusal(compiled.problem, compiled.at)
  const { problem, limit } = compiled
  return { status: 'refused', type: 'LimitExceeded', message: problem, metadata: { limit } }
}

/** A refusal with the position of the fault in the uploaded code. */
function refusal(problem: string, at: SourcePosition | undefined): Refused {
  const refused = { status: 'refused', type: 'InvalidPayload' } as const
  if (!at) return { ...refused, message: `${sourceFile}: ${problem}`, metadata: { file: sourceFile } }
  return { ...refused, message: `${at.file}:${at.line}:${at.column}: ${problem}`, metadata: { ...at } }
}

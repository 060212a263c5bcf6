import type { Compiled, Script } from '#sandbox/compiler/contract.ts'
import { firstPosition, positionOfName } from '#sandbox/compiler/source-map.ts'
import type { Inspection } from '#sandbox/protocol/contract.ts'
import { acceptSchemas } from '#shared/code/accept-schema.ts'
import { assertLength } from '#shared/code/merge-patch.ts'
import { uploadLimitHint } from '#shared/config/code-limits.ts'
import { ApiError } from '#shared/errors.ts'
import { checkFlows } from '#shared/flows/check-flows.ts'
import type { Flow } from '#shared/flows/flow.ts'
import { warningsOfFlows } from '#shared/flows/warnings.ts'
import { retryPolicy, type InspectionOutcome } from '#shared/models/bot-code.ts'
import { codeActionDefinitions, type CodeActionDefinitions } from '#shared/models/code-action-definitions.ts'
import type { CodeKind } from '#shared/models/tables.ts'
import { compile, describeErrors } from '#shared/schema.ts'
import type { AcceptedCode, findInspection } from '#shared/store/inspections.ts'
import type { WorkerContext } from '../context.ts'
import { modelCodeWarning, runsModelCode } from '../code/model-code.ts'
import { refusal } from './refusals.ts'

const isRetryPolicy = compile(retryPolicy, 'body')
const isActionDefinitions = compile(codeActionDefinitions, 'body')

export type Upload = NonNullable<Awaited<ReturnType<typeof findInspection>>>

/** The outcome of an inspection, with the code to be stored where it is accepted. */
export type Result = { outcome: InspectionOutcome; code?: AcceptedCode }

/** Code that was evaluated, and its declaration or error. */
interface Evaluated {
  kind: CodeKind
  script: Script
  inspection: Exclude<Inspection, { status: 'interrupted' }>
}

/**
 * Checks what evaluated code declares.
 *
 * @param files further files of the code, as JSON
 */
export async function toResult(
  worker: WorkerContext,
  upload: Upload,
  files: string | null,
  { kind, script, inspection }: Evaluated,
): Promise<Result> {
  if (inspection.status === 'refused') return toRefusal(worker, upload, script, inspection)
  const { source, flows: given } = upload
  const { kind: _kind, retry, actionDefinitions, flows: exported, ...named } = inspection
  if (exported !== undefined) checkFlows(exported)
  const hasFlowsInCode = exported !== undefined
  const flows = given ?? (exported === undefined ? null : JSON.stringify(exported))
  const stored = { script: script.code === source ? null : script.code, source_map: script.sourceMap, files }
  const code = { kind, ...stored, flows, hasFlowsInCode }
  const problem = problemOfDefinitions(actionDefinitions, named.actions)
  if (problem !== undefined) return { outcome: refusal(problem, positionOfName(source, 'actionDefinitions')) }
  const warnings = [
    ...(runsModelCode(script.code) ? [modelCodeWarning] : []),
    ...(flows === null
      ? []
      : warningsOfFlows(JSON.parse(flows) as Flow[], { actions: named.actions, isInCode: hasFlowsInCode })),
  ]
  const declared = {
    ...named,
    ...(actionDefinitions && { actionDefinitions: actionDefinitions as CodeActionDefinitions }),
    ...(warnings.length > 0 && { warnings }),
  }
  if (retry === undefined) return { outcome: declared, code }
  if (isRetryPolicy(retry)) return { outcome: { ...declared, retry }, code }
  return { outcome: refusal(`retry: ${describeErrors(isRetryPolicy)}`, positionOfName(source, 'retry')) }
}

/** The error of code that was refused, at its place in the source. */
async function toRefusal(
  { sandbox }: WorkerContext,
  { source, workspace_id: workspaceId }: Upload,
  script: Script,
  { reason, error, hook }: Extract<Inspection, { status: 'refused' }>,
): Promise<Result> {
  const { stack = '' } = error
  const map = hook || stack === '' ? undefined : await sandbox.compiler.readSourceMap(workspaceId, script.sourceMap)
  const at = hook ? positionOfName(source, hook) : firstPosition(stack, map)
  const problem = hook ? error.message : `${error.name}: ${error.message}`
  return { outcome: refusal(problem + uploadLimitHint(reason, error.name), at) }
}

/** @param actions names of the exported actions */
function problemOfDefinitions(definitions: unknown, actions: string[]): string | undefined {
  if (definitions === undefined) return undefined
  if (!isActionDefinitions(definitions)) return `actionDefinitions: ${describeErrors(isActionDefinitions)}`
  const unknown = Object.keys(definitions).find((name) => !actions.includes(name))
  if (unknown !== undefined) return `actionDefinitions: there is no action '${unknown}' in exports.actions`
  try {
    assertLength(definitions)
    acceptSchemas(codeActionDefinitions, definitions)
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return `actionDefinitions: ${error.message}`
    throw error
  }
}

export function toJson(files: Compiled['files']): string | null {
  return files.length === 0 ? null : JSON.stringify(files)
}

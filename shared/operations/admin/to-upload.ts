import type { UploadedCode } from '../../code/inspect-code.ts'
import type { DeployedUpload } from '../../store/bots.ts'

/** Code and flows as an administrator sends them, each of which may be absent. */
export interface SentParts {
  code: string | undefined
  sourceMap: string | undefined
  flows: object[] | undefined
  layouts: object | undefined
}

/** Code, flows and positions of nodes, which together become a version. */
export type VersionUpload = UploadedCode & { layouts: string | null }

/**
 * The upload of a new version: code without flows keeps the flows beside the deployed code, and flows without code keep
 * the deployed code.
 *
 * @returns undefined when neither is sent
 */
export function toUpload(
  { code, sourceMap, flows, layouts }: SentParts,
  deployed: DeployedUpload | undefined,
): VersionUpload | undefined {
  if (code === undefined && flows === undefined) return undefined
  const kept = flows === undefined ? (deployed?.flows ?? undefined) : undefined
  const given = flows !== undefined && flows.length > 0 ? JSON.stringify(flows) : kept
  const keptLayouts = given === undefined ? null : (deployed?.layouts ?? null)
  return {
    code: code ?? deployed?.source ?? '',
    sourceMap: code === undefined ? (deployed?.sourceMap ?? undefined) : sourceMap,
    flows: given,
    layouts: layouts === undefined ? keptLayouts : JSON.stringify(layouts),
  }
}

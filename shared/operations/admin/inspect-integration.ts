import type { Context } from '../../context.ts'
import { inspectCode, type InspectedCode, type UploadedCode } from '../../code/inspect-code.ts'
import { checkScripts } from '../../integrations/check-scripts.ts'

/**
 * Has workers inspect the code of an upload of an integration, if it has code, and compile its scripts at the same time.
 *
 * @param change the uploaded part of the definition, which is valid
 * @returns the inspected code, and warnings about the scripts
 * @throws ApiError as `inspectCode` does
 */
export async function inspectIntegration(
  context: Context,
  workspaceId: string,
  { upload, change }: { upload: UploadedCode | undefined; change: Parameters<typeof checkScripts>[2] },
): Promise<[inspected: InspectedCode | undefined, warnings: string[]]> {
  return Promise.all([upload && inspectCode(context, workspaceId, upload), checkScripts(context, workspaceId, change)])
}

import type { Administrator } from '../../rpc/caller.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../errors.ts'
import type { DescribedWorkspaceRow } from '../../models/workspace.ts'
import { findWorkspace } from '../../store/workspaces.ts'

/**
 * The workspace in the path, which must be the caller's by x-workspace-id.
 * @throws ApiError `ResourceNotFound`
 */
export async function findOwnWorkspace(
  { db, caller }: Pick<Context, 'db'> & { caller: Administrator },
  id: string,
): Promise<DescribedWorkspaceRow> {
  const row = id === caller.workspaceId ? await findWorkspace(db, id) : undefined
  if (row) return row
  throw notFound(`Workspace '${id}'`, `the header x-workspace-id names '${caller.workspaceId}'`)
}

import type { Administrator } from '../../rpc/caller.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../errors.ts'
import type { DescribedWorkspaceRow } from '../../models/workspace.ts'
import { findWorkspace } from '../../store/workspaces.ts'

/**
 * The workspace that an address names, which must be the one that the caller is in by x-workspace-id.
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

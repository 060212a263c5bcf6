import type { Administrator } from '../../rpc/caller.ts'
import type { Context } from '../../context.ts'
import { ApiError } from '../../errors.ts'
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
  throw new ApiError(
    'ResourceNotFound',
    `There is no workspace '${id}' where x-workspace-id says '${caller.workspaceId}'`,
  )
}

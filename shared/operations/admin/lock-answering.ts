import { ApiError } from '../../errors.ts'
import { includesRole } from '../../models/member.ts'
import { lockRole } from '../../store/accounts.ts'
import type { Database } from '../../store/database.ts'

/**
 * Keeps a member's role until the transaction ends, so that a member who loses it meanwhile also loses the handover.
 *
 * @throws ApiError `ReferenceNotFound` when the workspace has no such member, or the role does not include an agent's
 */
export async function lockAnswering(transaction: Database, workspaceId: string, accountId: string): Promise<void> {
  const role = await lockRole(transaction, workspaceId, accountId)
  if (role && includesRole(role, 'agent')) return
  throw new ApiError('ReferenceNotFound', `Member '${accountId}' not found, or the member's role may not answer`)
}

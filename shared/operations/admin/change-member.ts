import { hasRole, type Administrator } from '../../rpc/caller.ts'
import type { Context } from '../../context.ts'
import { ApiError, notFound } from '../../errors.ts'
import type { DescribedMemberRow } from '../../models/member.ts'
import { findRole } from '../../store/accounts.ts'
import { transact, type Database } from '../../store/database.ts'
import { findMember, hasOtherOwner } from '../../store/members.ts'
import type { Role } from '../../models/tables.ts'
import { lockWorkspace } from '../../store/workspaces.ts'

/**
 * Changes the members of the caller's workspace, one change at a time. Each change checks the caller's role again, so
 * that of two owners who demote each other one remains.
 *
 * @throws ApiError `Forbidden` when the caller is no longer an administrator
 */
export async function changeMembers<Result>(
  { db, caller }: Context & { caller: Administrator },
  change: (transaction: Database, caller: Administrator) => Promise<Result>,
): Promise<Result> {
  const { workspaceId, accountId } = caller
  return transact(db, async (transaction) => {
    await lockWorkspace(transaction, workspaceId)
    const role = await findRole(transaction, workspaceId, accountId)
    const now = role && { ...caller, role }
    if (!now || !hasRole(now, 'administrator')) {
      throw new ApiError('Forbidden', `You are no longer an administrator of the workspace '${workspaceId}'`)
    }
    return change(transaction, now)
  })
}

/** @throws ApiError `Forbidden` when a role is above the caller's own */
export function assertNotAbove(caller: Administrator, role: Role): void {
  if (hasRole(caller, role)) return
  throw new ApiError('Forbidden', `This operation needs the role '${role}' in the workspace; yours is '${caller.role}'`)
}

/**
 * Finds a member that the caller may change.
 * @throws ApiError `ResourceNotFound`, or `Forbidden` when the member's role is above the caller's own
 */
export async function findChangeable(db: Database, caller: Administrator, id: string): Promise<DescribedMemberRow> {
  const row = await findMember(db, caller.workspaceId, id)
  if (!row) throw notFound(`Member '${id}'`)
  assertNotAbove(caller, row.role)
  return row
}

/** @throws ApiError `ReferenceConstraint` when the member is the only owner */
export async function assertOwnerRemains(
  db: Database,
  { workspaceId }: Administrator,
  member: DescribedMemberRow,
): Promise<void> {
  if (member.role !== 'owner' || (await hasOtherOwner(db, workspaceId, member.account_id))) return
  throw new ApiError('ReferenceConstraint', 'A workspace needs an owner: give another member the role owner first')
}

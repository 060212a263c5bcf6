import { page, toPage, type Page, type PageRequest } from './pagination.ts'
import type { DescribedMemberRow } from '../models/member.ts'
import type { Database } from './database.ts'
import { releaseHandovers } from './handovers.ts'
import type { Role } from '../models/tables.ts'

/** One page of a workspace's members, newest first. */
export async function pageOfMembers(
  db: Database,
  workspaceId: string,
  request: PageRequest,
): Promise<Page<DescribedMemberRow>> {
  const rows: DescribedMemberRow[] = await described(db, workspaceId).modify((builder) =>
    page(builder, request, 'members.created_at', 'members.account_id'),
  )
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.account_id }))
}

export async function findMember(
  db: Database,
  workspaceId: string,
  accountId: string,
): Promise<DescribedMemberRow | undefined> {
  return described(db, workspaceId).where({ account_id: accountId }).first()
}

/** @param email in lower case */
export async function findMemberByEmail(
  db: Database,
  workspaceId: string,
  email: string,
): Promise<DescribedMemberRow | undefined> {
  return described(db, workspaceId).whereRaw('coalesce(members.email, accounts.email) = ?', [email]).first()
}

export async function setRole(db: Database, workspaceId: string, accountId: string, role: Role): Promise<void> {
  await db('members').where({ workspace_id: workspaceId, account_id: accountId }).update({ role })
}

/** Whether a workspace has an owner other than one account. Invited owners do not count. */
export async function hasOtherOwner(db: Database, workspaceId: string, accountId: string): Promise<boolean> {
  const owners = db('members').where({ workspace_id: workspaceId, role: 'owner' }).whereNotNull('accepted_at')
  return (await owners.whereNot({ account_id: accountId }).first('account_id')) !== undefined
}

/**
 * The workspaces that an account alone owns. Prevents changes of members of all its workspaces until the transaction ends.
 */
export async function lockSoleOwnerships(
  transaction: Database,
  accountId: string,
): Promise<{ id: string; name: string }[]> {
  const own = transaction('members').where({ account_id: accountId }).select('workspace_id')
  await transaction('workspaces').whereIn('id', own).orderBy('id').forNoKeyUpdate().select('id')
  const otherOwners = transaction('members')
    .whereRaw(`workspace_id = workspaces.id and role = 'owner' and accepted_at is not null`)
    .whereNot({ account_id: accountId })
  return transaction('workspaces')
    .whereIn('id', own.clone().where({ role: 'owner' }).whereNotNull('accepted_at'))
    .whereNotExists(otherOwners)
    .orderBy('id')
    .select('id', 'name')
}

/**
 * Removes a member from a workspace. An account without another membership is deleted with its tokens, which are of no
 * further use.
 */
export async function deleteMember(transaction: Database, workspaceId: string, accountId: string): Promise<void> {
  await transaction('members').where({ workspace_id: workspaceId, account_id: accountId }).delete()
  await releaseHandovers(transaction, accountId, workspaceId)
  // The lock waits for transactions that make the account a member elsewhere, so that their rows are seen.
  await transaction('accounts').where({ id: accountId }).forUpdate().first('id')
  await transaction('accounts')
    .where({ id: accountId })
    .whereNotExists(transaction('members').where({ account_id: accountId }).select(transaction.raw('1')))
    .delete()
}

function described(db: Database, workspaceId: string) {
  return db<DescribedMemberRow, DescribedMemberRow[]>('members')
    .join('accounts', 'accounts.id', 'members.account_id')
    .where('workspace_id', workspaceId)
    .select(
      'account_id',
      'role',
      'members.created_at',
      'accounts.name',
      'picture_url',
      'invitation_expires_at',
      'accepted_at',
      db.raw('coalesce(members.email, accounts.email) as email'),
    )
}

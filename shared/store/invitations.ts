import { query, type Database } from './database.ts'
import type { Role } from '../models/tables.ts'
import type { Invitation } from '../models/invitation.ts'

/** Days in which an invitation can be accepted. */
export const invitationDays = 7

interface NewInvitation {
  workspaceId: string
  /** The account reserved for the invited person: it has no token yet. */
  accountId: string
  role: Role
  /** SHA-256 of the secret. */
  hash: Buffer
}

/** @param invitation with the email in lower case */
export async function insertInvitedMember(db: Database, invitation: NewInvitation & { email: string }): Promise<void> {
  await query(
    db,
    `insert into members (workspace_id, account_id, role, email, accepted_at, invitation, invitation_expires_at)
     values (:workspaceId, :accountId, :role, :email, null, :hash, now() + make_interval(days => :invitationDays))`,
    { ...invitation, invitationDays },
  )
}

/** Gives an invited member a new secret, and possibly another role. The former secret becomes invalid. */
export async function renewInvitation(
  db: Database,
  { workspaceId, accountId, role, hash }: NewInvitation,
): Promise<void> {
  await query(
    db,
    `update members
     set role = :role, invitation = :hash, invitation_expires_at = now() + make_interval(days => :invitationDays)
     where workspace_id = :workspaceId and account_id = :accountId and accepted_at is null`,
    { workspaceId, accountId, role, hash, invitationDays },
  )
}

/** The invitation of a secret, also when it is accepted or expired. */
export async function findInvitation(db: Database, hash: Buffer): Promise<Invitation | undefined> {
  const [row] = await query<Invitation>(
    db,
    `select workspace_id, account_id, role, email, accepted_at, invitation_expires_at,
       invitation_expires_at <= now() as is_expired, workspaces.name as workspace_name
     from members join workspaces on workspaces.id = workspace_id
     where invitation = :hash`,
    { hash },
  )
  return row
}

/**
 * Makes an invited account a member: the reserved account, or another one instead.
 *
 * @param transaction holds the workspace's lock
 */
export async function acceptMembership(
  transaction: Database,
  { workspace_id: workspaceId, account_id: invitedId }: Invitation,
  accountId: string,
): Promise<void> {
  await transaction('members')
    .where({ workspace_id: workspaceId, account_id: invitedId })
    .update({ account_id: accountId, accepted_at: transaction.fn.now(3) })
  if (accountId !== invitedId) await transaction('accounts').where({ id: invitedId }).delete()
}

import type { Context } from '#shared/context.ts'
import { notFound } from '#shared/errors.ts'
import { newId } from '#shared/ids.ts'
import { includesRole } from '#shared/models/member.ts'
import { acceptInvitation } from '#shared/operations/index.ts'
import type { Invitee } from '#shared/rpc/caller.ts'
import type { Role } from '#shared/models/tables.ts'
import { findAccount, insertAccount } from '#shared/store/accounts.ts'
import { transact, type Database } from '#shared/store/database.ts'
import { findIdentity, insertIdentity, listMemberships, lockIdentity } from '#shared/store/identities.ts'
import { findInvitation } from '#shared/store/invitations.ts'
import { applyClaims } from './apply-claims.ts'
import type { Identity } from './provider.ts'

/** Nobody gave the person an account: no invitation, no role by claims, and sign-up is off. */
export class NoAccountError extends Error {
  override name = 'NoAccountError'
}

/**
 * The account of a person whom the provider has signed in. A first sign-in creates it, if the person has an invitation
 * or a role by claims, or everybody may have one. Accounts are never found by their email address: an account with it
 * may have been created, and its token kept, by somebody else.
 *
 * @param invitation SHA-256 of the secret of an invitation that the person follows
 * @throws NoAccountError
 * @throws ApiError when the invitation cannot be accepted
 */
export async function accountOf(context: Context, identity: Identity, invitation?: Buffer): Promise<string> {
  const { config } = context
  const { isOpen = false, roles = [] } = config.signIn ?? {}
  const given = roles.filter(({ value }) => identity.values.includes(value))
  const account = await transact(context.db, async (transaction) => {
    await lockIdentity(transaction, identity)
    const known = await findIdentity(transaction, identity)
    const accountId = known ?? (await createAccount(transaction, identity))
    if (invitation) await accept({ ...context, db: transaction }, accountId, invitation)
    await applyClaims({ ...context, db: transaction }, { accountId, roles: highestRoles(given) })
    const isMember = (await listMemberships(transaction, accountId)).length > 0
    // The rollback removes the account.
    if (known === undefined && !isMember && !isOpen) throw new NoAccountError()
    // The account of a person whom the claims have made a member ends with its last membership.
    return findAccount(transaction, accountId)
  })
  if (account) return account.id
  throw new NoAccountError()
}

async function createAccount(db: Database, identity: Identity): Promise<string> {
  const { email, name = email ?? identity.subject } = identity
  const id = newId('account')
  await insertAccount(db, { id, name, ...(email !== undefined && { email }) })
  await insertIdentity(db, { issuer: identity.issuer, subject: identity.subject, accountId: id })
  return id
}

async function accept(context: Context, accountId: string, invitation: Buffer): Promise<void> {
  const found = await findInvitation(context.db, invitation)
  if (!found) throw notFound('Invitation', 'it has been withdrawn')
  const { workspace_id: workspaceId, email } = found
  const caller: Invitee = { kind: 'invitee', invitation, workspaceId, email, accountId, hasAccount: true }
  await acceptInvitation.call({ ...context, caller }, {})
}

/** The highest role of each workspace. */
function highestRoles(given: { workspaceId: string; role: Role }[]): Map<string, Role> {
  const roles = new Map<string, Role>()
  for (const { workspaceId, role } of given) {
    const present = roles.get(workspaceId)
    if (present === undefined || includesRole(role, present)) roles.set(workspaceId, role)
  }
  return roles
}

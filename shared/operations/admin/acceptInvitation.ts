import { closedObject } from '../../schema.ts'
import type { Invitee } from '../../rpc/caller.ts'
import { ApiError } from '../../errors.ts'
import { newId, newToken } from '../../ids.ts'
import { accountFields } from '../../models/account.ts'
import { member, toMember } from '../../models/member.ts'
import { operation } from '../../rpc/operation.ts'
import { hashToken } from '../../secrets.ts'
import { findAccount, insertPersonalToken, updateAccountFields } from '../../store/accounts.ts'
import { transact, type Database } from '../../store/database.ts'
import { acceptMembership } from '../../store/invitations.ts'
import { findMember } from '../../store/members.ts'
import { lockWorkspace } from '../../store/workspaces.ts'
import { findOpenInvitation } from './open-invitation.ts'

export const acceptInvitation = operation({
  name: 'acceptInvitation',
  description:
    'Accepts an invitation to a workspace. The new member is the account of the given personal token, or, ' +
    'without a token, a new account; only this answer contains the token of the new account.',
  method: 'POST',
  path: '/v1/admin/account/invitation',
  access: 'invitee',
  stability: 'experimental',
  errors: ['AlreadyExists', 'ResourceGone', 'ResourceNotFound'],
  input: closedObject(
    {},
    {
      displayName: {
        ...accountFields.displayName,
        description: 'The name of the new account; default: the email address.',
      },
    },
  ),
  output: {
    type: 'object',
    additionalProperties: false,
    required: [...member.required, 'workspaceId'],
    properties: {
      ...member.properties,
      workspaceId: { type: 'string' },
      token: { type: 'string', description: 'The personal token of the new account.' },
    },
  },

  async handle({ db, caller }, { displayName }) {
    const { workspaceId, accountId } = caller
    return transact(db, async (transaction) => {
      // The lock serialises changes of members: until the commit, no member is removed or invited again.
      await lockWorkspace(transaction, workspaceId)
      const invitation = await findOpenInvitation(transaction, caller.invitation)
      if (caller.hasAccount) await assertMayJoin(transaction, caller)
      await acceptMembership(transaction, invitation, accountId)
      const token = caller.hasAccount ? undefined : await beginAccount(transaction, accountId, displayName)
      const row = await findMember(transaction, workspaceId, accountId)
      return { ...toMember(row!), workspaceId, ...(token !== undefined && { token }) }
    })
  },
})

async function assertMayJoin(transaction: Database, { workspaceId, accountId }: Invitee): Promise<void> {
  // The account is deleted with its last membership, which may end concurrently.
  if (!(await findAccount(transaction, accountId, { isKept: true }))) {
    throw new ApiError('Unauthorized', 'The account of the personal token no longer exists')
  }
  if (!(await findMember(transaction, workspaceId, accountId))) return
  throw new ApiError('AlreadyExists', 'You are already a member of the workspace')
}

/** @returns the account's first token, known to no other user */
async function beginAccount(transaction: Database, accountId: string, name: string | undefined): Promise<string> {
  const token = newToken()
  await updateAccountFields(transaction, accountId, { name })
  await insertPersonalToken(transaction, {
    id: newId('pat'),
    hash: hashToken(token),
    accountId,
    note: 'The first token',
  })
  return token
}

import { closedObject } from '../../schema.ts'
import type { Administrator } from '../../rpc/caller.ts'
import { ApiError } from '../../errors.ts'
import { newId, newToken } from '../../ids.ts'
import { member, role, toMember } from '../../models/member.ts'
import { operation } from '../../rpc/operation.ts'
import { hashToken } from '../../secrets.ts'
import { insertAccount } from '../../store/accounts.ts'
import type { Database } from '../../store/database.ts'
import { insertInvitedMember, invitationDays, renewInvitation } from '../../store/invitations.ts'
import { findMember, findMemberByEmail } from '../../store/members.ts'
import type { Role } from '../../models/tables.ts'
import { assertNotAbove, changeMembers } from './change-member.ts'

const email = {
  type: 'string',
  pattern: '^[^\\s@]+@[^\\s@]+$',
  maxLength: 200,
  description: 'An address such as `ada@example.org`.',
} as const

export const createWorkspaceMember = operation({
  name: 'createWorkspaceMember',
  description:
    'Invites a person to the workspace, with a role that is not above the caller’s own. Only this answer contains the ' +
    `invitation; the caller passes it on, because the platform sends no mail. It is valid for one account and ` +
    `${invitationDays} days. A repeated call for a person who has not accepted yet creates a new invitation, and the ` +
    'former invitation becomes invalid.',
  method: 'POST',
  path: '/v1/admin/workspace-members',
  access: 'administrator',
  errors: ['AlreadyExists'],
  auditedFields: ['email', 'role'],
  input: closedObject({ email, role }),
  output: {
    type: 'object',
    additionalProperties: false,
    required: [...member.required, 'invitation', 'invitationUrl'],
    properties: {
      ...member.properties,
      invitation: { type: 'string', description: 'The secret of the invitation, for the header x-invitation.' },
      invitationUrl: { type: 'string', description: 'The page of the console that accepts the invitation.' },
    },
  },

  async handle(context, { email: given, role: wanted }) {
    const email = given.toLowerCase()
    const invitation = newToken('inv')
    return changeMembers(context, async (transaction, caller) => {
      assertNotAbove(caller, wanted)
      const accountId = await invite(transaction, caller, { email, role: wanted, hash: hashToken(invitation) })
      const row = await findMember(transaction, caller.workspaceId, accountId)
      // Browsers do not send the part after the #, so no log of a server or a proxy contains the secret.
      const invitationUrl = `${context.config.http.baseUrl}/console/invitation#${invitation}`
      return { ...toMember(row!), invitation, invitationUrl }
    })
  },
})

/**
 * Ignores accounts with the same address in other workspaces: such a workspace may have created the account, and have
 * its tokens.
 */
async function invite(
  db: Database,
  caller: Administrator,
  { email, role: wanted, hash }: { email: string; role: Role; hash: Buffer },
): Promise<string> {
  const { workspaceId } = caller
  const present = await findMemberByEmail(db, workspaceId, email)
  if (present?.accepted_at) {
    throw new ApiError('AlreadyExists', `${email} is already a member of the workspace: change the role instead`)
  }
  if (present) {
    assertNotAbove(caller, present.role)
    await renewInvitation(db, { workspaceId, accountId: present.account_id, role: wanted, hash })
    return present.account_id
  }
  const accountId = newId('account')
  await insertAccount(db, { id: accountId, name: email, email })
  await insertInvitedMember(db, { workspaceId, accountId, role: wanted, email, hash })
  return accountId
}

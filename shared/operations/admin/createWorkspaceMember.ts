import { ApiError } from '../../errors.ts'
import { newId, newToken } from '../../ids.ts'
import { member, memberFields, role, toMember } from '../../models/member.ts'
import { operation } from '../../operation.ts'
import { hashToken } from '../../secrets.ts'
import { insertAccount, insertMember, insertPersonalToken } from '../../store/accounts.ts'
import type { Database } from '../../store/database.ts'
import { findAccountByEmail, findMember } from '../../store/members.ts'
import { assertNotAbove, changeMembers } from './change-member.ts'

export const createWorkspaceMember = operation({
  name: 'createWorkspaceMember',
  description:
    'Adds somebody to the workspace, with a role that is not above the caller’s own. For who is new on the platform an ' +
    'account is made, and the answer has its first token, this once: no mail is sent.',
  method: 'POST',
  path: '/v1/admin/workspace-members',
  access: 'administrator',
  errors: ['AlreadyExists'],
  auditedFields: ['email', 'role'],
  input: {
    type: 'object',
    additionalProperties: false,
    required: ['email', 'role'],
    properties: { email: { type: 'string', pattern: '^[^\\s@]+@[^\\s@]+$', maxLength: 200 }, role },
  },
  output: {
    type: 'object',
    additionalProperties: false,
    required: member.required,
    properties: { ...memberFields, token: { type: 'string', description: 'The personal token of a new account.' } },
  },

  async handle(context, { email, role: wanted }) {
    return changeMembers(context, async (transaction, caller) => {
      assertNotAbove(caller, wanted)
      const { workspaceId } = caller
      const { accountId, token } = await findOrCreateAccount(transaction, email)
      if (await findMember(transaction, workspaceId, accountId)) {
        throw new ApiError('AlreadyExists', `${email} is a member of the workspace already: change the role instead`)
      }
      await insertMember(transaction, { workspaceId, accountId, role: wanted })
      const row = await findMember(transaction, workspaceId, accountId)
      return { ...toMember(row!), ...(token !== undefined && { token }) }
    })
  },
})

/** A token for an account that is there already would open the other workspaces of somebody else. */
async function findOrCreateAccount(db: Database, given: string): Promise<{ accountId: string; token?: string }> {
  const email = given.toLowerCase()
  const present = await findAccountByEmail(db, email)
  if (present) return { accountId: present.id }
  const accountId = newId('account')
  const token = newToken()
  await insertAccount(db, { id: accountId, name: given, email })
  await insertPersonalToken(db, { id: newId('pat'), hash: hashToken(token), accountId, note: 'The first token' })
  return { accountId, token }
}

import type { Client } from '@botpress/client'
import { newId } from '#shared/ids.ts'
import { hashToken } from '#shared/secrets.ts'
import { insertAccount, insertMember, insertPersonalToken, insertWorkspace } from '#shared/store/accounts.ts'
import type { Role } from '#shared/store/tables.ts'
import type { Platform } from './platform.ts'

/** A new account that is a member of a workspace, a new one unless given: the headers with which it asks. */
export async function createMember({ context: { db } }: Platform, role: Role, workspaceId?: string) {
  const accountId = newId('account')
  const token = `token-of-${accountId}`
  const memberOf = workspaceId ?? newId('wkspace')
  if (!workspaceId) await insertWorkspace(db, { id: memberOf, name: 'Another' })
  await insertAccount(db, { id: accountId, name: role })
  await insertMember(db, { workspaceId: memberOf, accountId, role })
  await insertPersonalToken(db, { id: newId('pat'), hash: hashToken(token), accountId, note: '' })
  return { authorization: `Bearer ${token}`, 'x-workspace-id': memberOf }
}

/** Adds somebody new to the client's workspace: the account's id, and its first token, of which published types know nothing. */
export async function addMember(client: Client, email: string, role: Role): Promise<{ id: string; token: string }> {
  const added: { id: string; token?: string } = await client.createWorkspaceMember({ email, role })
  if (added.token === undefined) throw new Error(`${email} is not new`)
  return { ...added, token: added.token }
}

import type { Client } from '@botpress/client'
import { newId } from '#shared/ids.ts'
import { hashToken } from '#shared/secrets.ts'
import { insertAccount, insertMember, insertPersonalToken, insertWorkspace } from '#shared/store/accounts.ts'
import type { Role } from '#shared/models/tables.ts'
import { send, type Answer, type Platform } from './platform.ts'

/** Makes an account that is a member of a workspace, by default a new one. Returns the headers of its requests. */
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

/** Invites an account; returns the member's id and the invitation, which published types lack. */
export async function invite(client: Client, email: string, role: Role): Promise<{ id: string; invitation: string }> {
  // Published types lack the role of an agent.
  const invited = await client.createWorkspaceMember({ email, role: role as 'viewer' })
  if ('invitation' in invited && typeof invited.invitation === 'string') {
    return { ...invited, invitation: invited.invitation }
  }
  throw new Error(`There is no invitation for ${email}`)
}

/** Accepts an invitation, with a personal token or as a new account. */
export async function accept({ url }: { url: string }, invitation: string, token?: string): Promise<Answer> {
  return send(
    'POST',
    `${url}/v1/admin/account/invitation`,
    {},
    {
      'x-invitation': invitation,
      authorization: token && `Bearer ${token}`,
    },
  )
}

/** Invites a new account to the client's workspace and accepts; returns the account's id and its first token. */
export async function addMember(client: Client, email: string, role: Role): Promise<{ id: string; token: string }> {
  const { invitation } = await invite(client, email, role)
  const { status, body } = await accept({ url: client.config.apiUrl }, invitation)
  if (status !== 200) throw new Error(`acceptInvitation: ${JSON.stringify(body)}`)
  return body
}

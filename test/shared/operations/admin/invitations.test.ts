import { Client } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as operations from '#shared/operations/index.ts'
import { accept, addMember, createMember, invite } from '../../../support/members.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'

let platform: Platform
let client: Client
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  client = new Client({ apiUrl: platform.url, token: platform.token, workspaceId: platform.workspaceId })
})
afterAll(() => platform[Symbol.asyncDispose]())

let addresses = 0
const newAddress = () => `invited-${addresses++}@example.com`
const as = (token: string, workspaceId = platform.workspaceId) =>
  new Client({ apiUrl: platform.url, token, workspaceId })

/** A workspace whose only owner is nobody that the first workspace knows. */
async function createTenant(): Promise<{ id: string; client: Client }> {
  const headers = await createMember(platform, 'owner')
  const id = headers['x-workspace-id']
  return { id, client: as(headers.authorization.slice('Bearer '.length), id) }
}

/** The statuses of requests to a workspace with a token, or another secret. */
async function opens(secret: string, workspaceId: string): Promise<number[]> {
  const headers = { authorization: `Bearer ${secret}`, 'x-workspace-id': workspaceId }
  const paths = ['/v1/admin/bots', '/v1/admin/workspace-members', '/v1/admin/workspace-members/me']
  const answers = await Promise.all(paths.map((path) => platform.ask('GET', path, undefined, headers)))
  return answers.map(({ status }) => status)
}

describe('an account that another tenant has prepared', () => {
  test('with an address opens nothing of a workspace that invites the same address later', async () => {
    const [attacker, victim] = [await createTenant(), await createTenant()]
    const email = newAddress()
    const prepared = await addMember(attacker.client, email, 'owner')
    const { pat } = await as(prepared.token, attacker.id).createPersonalAccessToken({ note: 'for later' })

    const invited = await invite(victim.client, email.toUpperCase(), 'owner')
    expect(invited.id).not.toBe(prepared.id)
    for (const secret of [prepared.token, pat.value]) {
      expect(await opens(secret, victim.id)).toEqual([403, 403, 403])
      const { workspaces } = await as(secret, attacker.id).listWorkspaces({})
      expect(workspaces.map(({ id }) => id)).toEqual([attacker.id])
    }
    const { body } = await accept(platform, invited.invitation)
    for (const secret of [prepared.token, pat.value]) expect(await opens(secret, victim.id)).toEqual([403, 403, 403])
    expect(await opens(body.token, victim.id)).toEqual([200, 200, 200])
    expect(await opens(body.token, attacker.id)).toEqual([403, 403, 403])
  })

  test('neither acts as a bot there, nor changes, lists or deletes anything of the member', async () => {
    const [attacker, victim] = [await createTenant(), await createTenant()]
    const email = newAddress()
    const { token } = await addMember(attacker.client, email, 'owner')
    const prepared = as(token, attacker.id)
    const own = await addMember(victim.client, email, 'developer')
    const { bot } = await victim.client.createBot({})
    const asBot = { authorization: `Bearer ${token}`, 'x-bot-id': bot.id }
    expect((await platform.ask('GET', '/v1/chat/users', undefined, asBot)).status).toBe(403)

    await prepared.updateAccount({ displayName: 'The director', profilePicture: 'https://example.com/director.png' })
    const { members } = await victim.client.listWorkspaceMembers({})
    expect(members.find(({ id }) => id === own.id)).toMatchObject({ displayName: email, email })
    expect((await prepared.listPersonalAccessTokens({})).pats).toHaveLength(1)
    for (const { id } of (await as(own.token, victim.id).listPersonalAccessTokens({})).pats) {
      await expect(prepared.deletePersonalAccessToken({ id })).rejects.toMatchObject({ type: 'ResourceNotFound' })
    }
    expect(await opens(own.token, victim.id)).toEqual([200, 200, 200])
  })

  test('stays closed out when the member is removed and invited again, or gets another role', async () => {
    const [attacker, victim] = [await createTenant(), await createTenant()]
    const email = newAddress()
    const { token } = await addMember(attacker.client, email, 'viewer')
    const first = await addMember(victim.client, email, 'viewer')
    await victim.client.updateWorkspaceMember({ id: first.id, role: 'administrator' })
    await victim.client.deleteWorkspaceMember({ id: first.id })
    const second = await invite(victim.client, email, 'viewer')
    expect(second.id).not.toBe(first.id)
    expect(await opens(token, victim.id)).toEqual([403, 403, 403])
    // The account of the first time is gone, with its token.
    expect(await opens(first.token, victim.id)).toEqual([401, 401, 401])
  })

  test('that joins is shown with the address that was invited, not with the one that it says it has', async () => {
    const [attacker, victim] = [await createTenant(), await createTenant()]
    const director = `director-of-${victim.id.toLowerCase()}@example.com`
    const { token } = await addMember(attacker.client, director, 'viewer')
    const email = newAddress()
    const { invitation } = await invite(victim.client, email, 'administrator')
    const { body } = await accept(platform, invitation, token)
    await as(token, victim.id).createBot({ name: 'by the joined' })
    const { members } = await victim.client.listWorkspaceMembers({})
    expect(members.map((member) => member.email)).not.toContain(director)
    expect(members.find(({ id }) => id === body.id)).toMatchObject({ email })
    await victim.client.deleteWorkspaceMember({ id: body.id })
    const { records } = await victim.client.getAuditRecords({ id: victim.id })
    expect(records.filter(({ userId }) => userId === body.id)).toMatchObject([
      { action: 'CREATE_BOT', userEmail: email },
      { operation: 'acceptInvitation', userEmail: email },
    ])
  })
})

describe('an invitation', () => {
  test('makes a new account whose token only the one who accepts has', async () => {
    const email = 'New.Person@Example.com'
    const invited = await client.createWorkspaceMember({ email, role: 'viewer' })
    expect(invited).toMatchObject({
      email: 'new.person@example.com',
      role: 'viewer',
      status: 'invited',
      invitation: expect.stringMatching(/^inv_[\w-]{36}$/),
      invitationUrl: expect.stringMatching(/\/console\/invitation#inv_[\w-]{36}$/),
    })
    expect(invited).not.toHaveProperty('token')
    const { invitation } = invited as typeof invited & { invitation: string }
    const told = await platform.ask('GET', '/v1/admin/account/invitation', undefined, {
      'x-invitation': invitation,
      authorization: undefined,
      'x-workspace-id': undefined,
    })
    expect(told).toMatchObject({
      status: 200,
      body: { workspaceId: platform.workspaceId, workspaceName: 'Default', role: 'viewer' },
    })
    const { status, body } = await accept(platform, invitation)
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { id: invited.id, status: 'active', workspaceId: platform.workspaceId },
    })
    const own = as(body.token)
    expect((await own.getAccount({})).account).toMatchObject({ id: invited.id, email: 'new.person@example.com' })
    await own.updateAccount({ displayName: 'Nina' })
    expect((await own.listWorkspaceMembers({})).members[0]).toMatchObject({
      id: invited.id,
      displayName: 'Nina',
      status: 'active',
    })
    await expect(client.createWorkspaceMember({ email, role: 'viewer' })).rejects.toMatchObject({
      type: 'AlreadyExists',
    })
  })

  test('is accepted by an account that is there, whose tokens then open both workspaces and no third', async () => {
    const [other, third] = [await createTenant(), await createTenant()]
    const { token } = await addMember(client, newAddress(), 'viewer')
    const email = newAddress()
    const invited = await invite(other.client, email, 'developer')
    await invite(third.client, email, 'developer')
    expect(await opens(token, other.id)).toEqual([403, 403, 403])
    const { status, body } = await accept(platform, invited.invitation, token)
    expect({ status, body }).toMatchObject({ status: 200, body: { email, role: 'developer', workspaceId: other.id } })
    expect(body).not.toHaveProperty('token')
    expect(await opens(token, other.id)).toEqual([200, 200, 200])
    expect(await opens(token, platform.workspaceId)).toEqual([200, 200, 200])
    expect(await opens(token, third.id)).toEqual([403, 403, 403])
    const { workspaces } = await as(token).listWorkspaces({})
    expect(workspaces.map(({ id }) => id)).toEqual([platform.workspaceId, other.id])
    expect((await other.client.listWorkspaceMembers({})).members).toHaveLength(2)
    await other.client.deleteWorkspaceMember({ id: body.id })
    expect(await opens(token, other.id)).toEqual([403, 403, 403])
    expect(await opens(token, platform.workspaceId)).toEqual([200, 200, 200])
  })

  test('opens nothing itself: not as a token, not as an account, in no operation but its own two', async () => {
    const { invitation } = await invite(client, newAddress(), 'owner')
    expect(await opens(invitation, platform.workspaceId)).toEqual([401, 401, 401])
    const open = Object.values(operations).filter(({ access }) => access === 'invitee')
    expect(open.map(({ name }) => name)).toEqual(['getInvitation', 'acceptInvitation'])
    const headers = { 'x-invitation': invitation, authorization: undefined }
    expect((await platform.ask('GET', '/v1/admin/account/me', undefined, headers)).status).toBe(401)
    expect((await platform.ask('GET', '/v1/admin/bots', undefined, headers)).status).toBe(401)
  })

  test('is accepted once: the second person gets an error, also at the same moment', async () => {
    const { id, invitation } = await invite(client, newAddress(), 'viewer')
    const answers = await Promise.all(Array.from({ length: 5 }, () => accept(platform, invitation)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 410, 410, 410, 410])
    const { body } = await accept(platform, invitation, platform.token)
    expect(body).toMatchObject({ type: 'ResourceGone', message: expect.stringContaining('If you did not accept it') })
    expect(await platform.context.db('tokens').where({ account_id: id })).toHaveLength(1)
  })

  test('whose answer was lost is answered again for the same Idempotency-Key, which cannot be guessed', async () => {
    const { invitation } = await invite(client, newAddress(), 'viewer')
    const ask = (key: string) =>
      platform.ask(
        'POST',
        '/v1/admin/account/invitation',
        {},
        {
          'x-invitation': invitation,
          authorization: undefined,
          'idempotency-key': key,
        },
      )
    expect((await ask('1')).status).toBe(400)
    const first = await ask('a-key-of-more-than-twenty-characters')
    const second = await ask('a-key-of-more-than-twenty-characters')
    expect(second).toMatchObject({ status: 200, body: first.body })
    expect(second.headers.get('Idempotent-Replayed')).toBe('true')
    expect((await ask('another-key-of-more-than-twenty-characters')).status).toBe(410)
  })

  test('is void once another was made for the same member, once it has expired, or the member was removed', async () => {
    const email = newAddress()
    const first = await invite(client, email, 'viewer')
    const second = await invite(client, email, 'developer')
    expect(second.id).toBe(first.id)
    expect((await accept(platform, first.invitation)).status).toBe(401)
    const expiry = platform.context.db('members').where({ account_id: second.id })
    await expiry.clone().update({ invitation_expires_at: new Date(Date.now() - 1000) })
    expect(await accept(platform, second.invitation)).toMatchObject({ status: 410, body: { type: 'ResourceGone' } })
    const third = await invite(client, email, 'developer')
    await client.deleteWorkspaceMember({ id: third.id })
    expect((await accept(platform, third.invitation)).status).toBe(401)
    expect(await platform.context.db('accounts').where({ id: third.id })).toEqual([])
  })

  test('is not for a member of the workspace, and not for a token of a bot or an unknown one', async () => {
    const { invitation } = await invite(client, newAddress(), 'owner')
    const member = await addMember(client, newAddress(), 'viewer')
    expect((await accept(platform, invitation, member.token)).body).toMatchObject({ type: 'AlreadyExists' })
    expect(await as(member.token).getWorkspaceMember({})).toMatchObject({ role: 'viewer' })
    const { bot } = await client.createBot({})
    const { value } = await client.createBotApiKey({ botId: bot.id })
    expect((await accept(platform, invitation, value)).status).toBe(403)
    expect((await accept(platform, invitation, 'pat_of_nobody')).status).toBe(401)
    expect((await accept(platform, 'inv_of_nobody')).status).toBe(401)
    expect((await accept(platform, invitation)).status).toBe(200)
  })

  test('to a role above their own is neither made nor renewed by anybody', async () => {
    const administrator = as((await addMember(client, newAddress(), 'administrator')).token)
    const email = newAddress()
    await expect(administrator.createWorkspaceMember({ email, role: 'owner' })).rejects.toMatchObject({
      type: 'Forbidden',
    })
    const { id } = await invite(client, email, 'owner')
    await expect(administrator.createWorkspaceMember({ email, role: 'viewer' })).rejects.toMatchObject({
      type: 'Forbidden',
    })
    expect(await accept(platform, (await invite(client, email, 'owner')).invitation)).toMatchObject({ body: { id } })
  })

  test('that is not accepted makes no owner: the last one stays', async () => {
    const tenant = await createTenant()
    const { id } = await tenant.client.getWorkspaceMember({})
    const invited = await invite(tenant.client, newAddress(), 'owner')
    const refused = { type: 'ReferenceConstraint' }
    await expect(tenant.client.deleteWorkspaceMember({ id })).rejects.toMatchObject(refused)
    await expect(tenant.client.updateWorkspaceMember({ id, role: 'viewer' })).rejects.toMatchObject(refused)
    const { body } = await accept(platform, invited.invitation)
    await tenant.client.deleteWorkspaceMember({ id })
    expect(await as(body.token, tenant.id).getWorkspace({ id: tenant.id })).toMatchObject({ ownerId: invited.id })
  })

  test.for<'viewer' | 'owner'>(['viewer', 'owner'])('may get another role before it is accepted: %s', async (role) => {
    const { id, invitation } = await invite(client, newAddress(), 'developer')
    await client.updateWorkspaceMember({ id, role })
    expect(await accept(platform, invitation)).toMatchObject({ body: { role } })
  })

  test('leaves a record of who made it and who accepted it, and its secret nowhere', async () => {
    const tenant = await createTenant()
    const email = newAddress()
    const { id, invitation } = await invite(tenant.client, email, 'viewer')
    const { body } = await accept(platform, invitation)
    const { records } = await tenant.client.getAuditRecords({ id: tenant.id })
    expect(records).toMatchObject([
      { action: 'ADD_WORKSPACE_MEMBER', operation: 'acceptInvitation', userId: id, userEmail: email, resourceId: id },
      { action: 'ADD_WORKSPACE_MEMBER', operation: 'createWorkspaceMember', value: `email=${email}, role=viewer` },
    ])
    const { db } = platform.context
    const stored = JSON.stringify([await db('audit_records'), await db('members'), await db('tokens')])
    for (const secret of [invitation, body.token]) expect(stored).not.toContain(secret)
  })
})

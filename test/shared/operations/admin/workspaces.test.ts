import { Client } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MemberAccess } from '#shared/rpc/caller.ts'
import { ensureAdministrator } from '#shared/process/bootstrap.ts'
import { roles, type Role } from '#shared/models/tables.ts'
import { countLockWaits } from '../../../support/databases.ts'
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
const newAddress = () => `somebody-${addresses++}@example.com`

/** A member of a workspace, as the published client and with headers. */
async function add(role: Role, as = client, workspaceId = platform.workspaceId) {
  const { id, token } = await addMember(as, newAddress(), role)
  return {
    id,
    token,
    client: new Client({ apiUrl: platform.url, token, workspaceId }),
    headers: { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId },
  }
}

/** A workspace of its own with one owner. */
async function createWorkspace() {
  const { id } = await client.createWorkspace({ name: 'Another' })
  return { id, client: new Client({ apiUrl: platform.url, token: platform.token, workspaceId: id }) }
}

describe('a workspace', () => {
  test('is created by an owner, who is then its owner too, and is returned in the form of the published client', async () => {
    const created = await client.createWorkspace({ name: 'Sales' })
    expect(created).toMatchObject({ name: 'Sales', botCount: 0, blocked: false, activeTrialId: null })
    const { workspaces } = await client.listWorkspaces({})
    expect(workspaces.map(({ id }) => id)).toEqual(expect.arrayContaining([platform.workspaceId, created.id]))
    const other = new Client({ apiUrl: platform.url, token: platform.token, workspaceId: created.id })
    expect(await other.getWorkspace({ id: created.id })).toEqual(created)
    expect(await other.getWorkspaceMember({})).toMatchObject({ role: 'owner', userId: created.ownerId })
  })

  test('has a handle that no other has', async () => {
    const [one, two] = [await createWorkspace(), await createWorkspace()]
    expect(await one.client.checkHandleAvailability({ handle: 'acme' })).toEqual({ available: true, suggestions: [] })
    const changed = await one.client.updateWorkspace({ id: one.id, handle: 'acme', about: 'We make everything' })
    expect(changed).toMatchObject({ handle: 'acme', about: 'We make everything', name: 'Another' })
    expect(await two.client.checkHandleAvailability({ handle: 'acme' })).toEqual({
      available: false,
      suggestions: ['acme-2', 'acme-3', 'acme-bots'],
    })
    await expect(two.client.updateWorkspace({ id: two.id, handle: 'acme' })).rejects.toMatchObject({
      type: 'AlreadyExists',
    })
    expect((await one.client.listWorkspaces({ handle: 'acme' })).workspaces).toHaveLength(1)
  })

  test('is closed when it has no bots left', async () => {
    const { id, client: own } = await createWorkspace()
    const { bot } = await own.createBot({})
    await expect(own.deleteWorkspace({ id })).rejects.toMatchObject({ type: 'ReferenceConstraint' })
    await own.deleteBot({ id: bot.id })
    await own.deleteWorkspace({ id })
    await expect(own.getWorkspace({ id })).rejects.toMatchObject({ type: 'Unauthorized' })
  })

  test('of others can be neither seen nor changed nor closed, by any address', async () => {
    const stranger = await createMember(platform, 'owner')
    const id = platform.workspaceId
    for (const [method, path, body] of [
      ['GET', `/v1/admin/workspaces/${id}`],
      ['PUT', `/v1/admin/workspaces/${id}`, { name: 'Mine' }],
      ['DELETE', `/v1/admin/workspaces/${id}`, {}],
      ['GET', `/v1/admin/workspaces/${id}/audit-records`],
    ] as const) {
      expect(await platform.ask(method, path, body, stranger)).toMatchObject({ status: 404 })
      const asMember = { ...stranger, 'x-workspace-id': id }
      expect(await platform.ask(method, path, body, asMember)).toMatchObject({ status: 403 })
    }
    expect(await client.getWorkspace({ id })).toMatchObject({ name: 'Default' })
  })
})

describe('a member', () => {
  test('a member who leaves the last workspace loses the account with its tokens, and a member of another one does not', async () => {
    const { client: own, id: workspaceId } = await createWorkspace()
    const member = await add('developer')
    const { invitation } = await invite(own, newAddress(), 'viewer')
    expect((await accept(platform, invitation, member.token)).status).toBe(200)
    await client.deleteWorkspaceMember({ id: member.id })
    await expect(member.client.listBots({})).rejects.toMatchObject({ type: 'Forbidden' })
    const elsewhere = new Client({ apiUrl: platform.url, token: member.token, workspaceId })
    expect((await elsewhere.listBots({})).bots).toEqual([])
    await own.deleteWorkspaceMember({ id: member.id })
    await expect(elsewhere.listBots({})).rejects.toMatchObject({ type: 'Unauthorized' })
  })

  test('of another workspace is not there', async () => {
    const { client: own } = await createWorkspace()
    const { id } = await add('viewer')
    await expect(own.updateWorkspaceMember({ id, role: 'owner' })).rejects.toMatchObject({ type: 'ResourceNotFound' })
    await expect(own.deleteWorkspaceMember({ id })).rejects.toMatchObject({ type: 'ResourceNotFound' })
    expect((await own.listWorkspaceMembers({})).members).toHaveLength(1)
  })
})

describe('the permissions of a role', () => {
  /** The least role for each of these; whoever has less is refused by it, before anything is looked at. */
  const least: [MemberAccess, string, string, object?][] = [
    ['viewer', 'GET', '/v1/admin/bots'],
    ['member', 'GET', '/v1/admin/workspace-members'],
    ['agent', 'GET', '/v1/admin/bots/none/handovers'],
    ['agent', 'POST', '/v1/admin/bots/none/conversations/none/handover', {}],
    ['viewer', 'GET', '/v1/admin/bots/none'],
    ['viewer', 'GET', '/v1/admin/bots/none/events'],
    ['developer', 'GET', '/v1/admin/bots/none/conversations'],
    ['viewer', 'GET', '/v1/admin/bots/none/logs?timeStart=2024-01-01T00:00:00Z'],
    ['viewer', 'GET', '/v1/admin/bots/none/versions'],
    ['developer', 'POST', '/v1/admin/bots', {}],
    ['developer', 'DELETE', '/v1/admin/bots/none', {}],
    ['developer', 'POST', '/v1/admin/bots/none/rollback', {}],
    ['developer', 'POST', '/v1/admin/bots/none/versions/deploy', { versionId: 'none' }],
    ['developer', 'GET', '/v1/admin/bots/none/versions/none'],
    ['developer', 'GET', '/v1/admin/bots/none/versions/none/compare'],
    ['developer', 'POST', '/v1/admin/bots/baks', { botId: 'none' }],
    ['administrator', 'GET', '/v1/admin/workspaces/none/audit-records'],
    ['administrator', 'PUT', '/v1/admin/workspaces/none', {}],
    ['administrator', 'DELETE', '/v1/admin/workspace-members/none', {}],
    ['administrator', 'PUT', '/v1/admin/workspace-members/none', { role: 'viewer' }],
    ['owner', 'DELETE', '/v1/admin/workspaces/none', {}],
    ['owner', 'POST', '/v1/admin/workspaces', {}],
  ]

  test.each(roles)('a %s is refused what needs more, and nothing else', async (role) => {
    const { headers } = await add(role)
    for (const [needed, method, path, body] of least) {
      const { status } = await platform.ask(method, path, body, headers)
      const may = { member: true, agent: role !== 'viewer' }
      const isRefused = !(may[needed as 'agent'] ?? roles.indexOf(role) >= roles.indexOf(needed as Role))
      expect({ method, path, isRefused: status === 403 }).toEqual({ method, path, isRefused })
    }
  })

  test('ends with the role', async () => {
    const { id, client: own } = await add('developer')
    const { bot } = await own.createBot({})
    await client.updateWorkspaceMember({ id, role: 'viewer' })
    await expect(own.deleteBot({ id: bot.id })).rejects.toMatchObject({ type: 'Forbidden' })
    expect(await own.getBot({ id: bot.id })).toMatchObject({ bot: { id: bot.id } })
  })

  test('is not raised by its bearer', async () => {
    for (const [role, wanted] of [
      ['viewer', 'developer'],
      ['developer', 'administrator'],
      ['administrator', 'owner'],
    ] as const) {
      const { id, client: own } = await add(role)
      await expect(own.updateWorkspaceMember({ id, role: wanted })).rejects.toMatchObject({ type: 'Forbidden' })
      expect(await own.getWorkspaceMember({})).toMatchObject({ role })
    }
  })

  test('does not let an administrator make an owner, or touch one', async () => {
    const owner = await add('owner')
    const administrator = await add('administrator')
    const own = administrator.client
    const forbidden = { type: 'Forbidden' }
    const email = newAddress()
    await expect(own.createWorkspaceMember({ email, role: 'owner' })).rejects.toMatchObject(forbidden)
    await expect(own.updateWorkspaceMember({ id: owner.id, role: 'viewer' })).rejects.toMatchObject(forbidden)
    await expect(own.deleteWorkspaceMember({ id: owner.id })).rejects.toMatchObject(forbidden)
    expect(await owner.client.getWorkspaceMember({})).toMatchObject({ role: 'owner' })
    // The refused request has created no account either.
    expect(await own.createWorkspaceMember({ email, role: 'developer' })).toHaveProperty('invitation')
  })

  test('stays in the workspace that has no other owner', async () => {
    const { client: own } = await createWorkspace()
    const { id } = await own.getWorkspaceMember({})
    const refused = { type: 'ReferenceConstraint' }
    await expect(own.updateWorkspaceMember({ id, role: 'administrator' })).rejects.toMatchObject(refused)
    await expect(own.deleteWorkspaceMember({ id })).rejects.toMatchObject(refused)
    expect(await own.getWorkspaceMember({})).toMatchObject({ role: 'owner' })
  })

  test.each([
    ['stays with one of two owners who demote each other at the same moment', 0],
    ['counts for what its bearer asks while losing it', 1],
  ])('%s', async (_what, others) => {
    const { client: first, id } = await createWorkspace()
    const second = await add('owner', first, id)
    for (let other = 0; other < others; other++) await add('owner', first, id)
    const { id: firstId } = await first.getWorkspaceMember({})
    const { db } = platform.context
    const held = await db.transaction()
    await held('members').where({ workspace_id: id }).forUpdate()
    const requests = Promise.allSettled([
      first.updateWorkspaceMember({ id: second.id, role: 'viewer' }),
      second.client.updateWorkspaceMember({ id: firstId, role: 'viewer' }),
    ])
    await expect.poll(() => countLockWaits(db), { timeout: 10_000 }).toBe(2)
    await held.commit()
    expect((await requests).filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const owners = db('members').where({ workspace_id: id, role: 'owner' })
    expect(await owners).toHaveLength(1 + others)
  })
})

describe('a personal token', () => {
  test('does what its maker may, is listed without its value, and opens nothing once it is deleted', async () => {
    const { client: own } = await add('developer')
    const { pat } = await own.createPersonalAccessToken({ note: 'for the laptop' })
    expect(pat).toMatchObject({ note: 'for the laptop', value: expect.stringMatching(/^pat_[\w-]{36}$/) })
    const { pats } = await own.listPersonalAccessTokens({})
    expect(pats[0]).toEqual({ id: pat.id, createdAt: pat.createdAt, note: 'for the laptop' })
    const { workspaceId } = platform
    const other = new Client({ apiUrl: platform.url, token: pat.value, workspaceId })
    expect(await other.getWorkspaceMember({})).toMatchObject({ role: 'developer' })
    await own.deletePersonalAccessToken({ id: pat.id })
    await expect(other.getWorkspaceMember({})).rejects.toMatchObject({ type: 'Unauthorized' })
  })

  test('of another account is neither listed nor deleted', async () => {
    const { client: own } = await add('viewer')
    const { pat } = await own.createPersonalAccessToken({ note: '' })
    await expect(client.deletePersonalAccessToken({ id: pat.id })).rejects.toMatchObject({ type: 'ResourceNotFound' })
    expect((await client.listPersonalAccessTokens({})).pats.map(({ id }) => id)).not.toContain(pat.id)
  })
})

describe('the token that the environment names', () => {
  test("is an owner's of the first workspace, also when a tenant has been an owner for longer", async () => {
    const { db } = platform.context
    const tenant = await createMember(platform, 'owner')
    await db('members')
      .where({ workspace_id: tenant['x-workspace-id'] })
      .update({ created_at: new Date(0) })
    expect(await ensureAdministrator(db, platform.token)).toBe(platform.workspaceId)
    expect((await platform.ask('GET', '/v1/admin/account/me')).status).toBe(200)
  })
})

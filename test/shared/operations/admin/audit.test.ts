import { Client } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as operations from '#shared/operations/index.ts'
import { addMember, createMember } from '../../../support/members.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'

let platform: Platform
let client: Client
beforeAll(async () => {
  platform = await openPlatform()
  client = new Client({ apiUrl: platform.url, token: platform.token, workspaceId: platform.workspaceId })
})
afterAll(() => platform[Symbol.asyncDispose]())

async function records(filter = '') {
  const path = `/v1/admin/workspaces/${platform.workspaceId}/audit-records?pageSize=100${filter}`
  const { status, body } = await platform.ask('GET', path)
  expect({ status, body }).toMatchObject({ status: 200 })
  return body.records
}

test('every operation of the Admin API that may change something is recorded', () => {
  const unrecorded = Object.values(operations)
    .filter(({ path, method, isAudited }) => path.startsWith('/v1/admin/') && method !== 'GET' && !isAudited)
    .map(({ name }) => name)
  // The first four say who reads, types and is online, and leave nothing that lasts; the others only tell.
  expect(unrecorded).toEqual([
    'markHandoverRead',
    'typeInConversation',
    'updatePresence',
    'leaveInbox',
    'checkHandleAvailability',
    'introspect',
    'validateIntegrationCreation',
    'validateIntegrationUpdate',
  ])
  const outside = Object.values(operations).filter(({ path }) => !path.startsWith('/v1/admin/'))
  // Members who act as a bot change its files and its tables. To find rows changes nothing.
  const audited = outside.filter(({ isAudited }) => isAudited).map(({ name }) => name)
  const changing = outside.filter(({ path, method }) => /^\/v1\/(?:files|tables)/.test(path) && method !== 'GET')
  expect(audited).toEqual(changing.map(({ name }) => name).filter((name) => name !== 'findTableRows'))
})

describe('the record of an action', () => {
  test('lists actor, action, target and time, in the form of the published client', async () => {
    const { account } = await client.getAccount({})
    const before = Date.now()
    const { bot } = await client.createBot({ name: 'till' })
    await client.updateBot({ id: bot.id, name: 'counter' })
    await client.deleteBot({ id: bot.id })
    const { records: found } = await client.getAuditRecords({ id: platform.workspaceId, pageSize: 3 })
    const common = { userId: account.id, resourceId: bot.id, outcome: 'done' }
    expect(found).toMatchObject([
      { ...common, action: 'DELETE_BOT' },
      { ...common, action: 'UPDATE_BOT', resourceName: 'counter', value: 'name' },
      { ...common, action: 'CREATE_BOT', resourceName: 'till', value: 'name' },
    ])
    for (const { recordedAt } of found) expect(Date.parse(recordedAt)).toBeGreaterThanOrEqual(before - 1)
  })

  test('holds no secret, no code and no token, and the names of what was given', async () => {
    const { bot } = await client.createBot({
      code: 'export const hooks = {} // unmistakable-code',
      secrets: { API_KEY: 'unmistakable-secret' },
    })
    const { value } = await client.createBotApiKey({ botId: bot.id, note: 'for the till' })
    const { pat } = await client.createPersonalAccessToken({ note: 'unmistakable-note' })
    const stored = JSON.stringify(await platform.context.db('audit_records'))
    for (const secret of ['unmistakable', 'API_KEY', value, pat.value]) expect(stored).not.toContain(secret)
    const [own, key, created] = await records()
    expect(created).toMatchObject({
      operation: 'createBot',
      value: expect.stringMatching(/^(code, secrets|secrets, code)$/),
    })
    expect(key).toMatchObject({ operation: 'createBotApiKey', value: `botId=${bot.id}, note=for the till` })
    expect(own).toMatchObject({ operation: 'createPersonalAccessToken', resourceId: pat.id, action: 'UNKNOWN' })
  })

  test('says which role was given to whom, and by whose address', async () => {
    const email = 'boss@example.com'
    const { id, token } = await addMember(client, email, 'administrator')
    const boss = new Client({ apiUrl: platform.url, token, workspaceId: platform.workspaceId })
    const { id: other } = await boss.createWorkspaceMember({ email: 'other@example.com', role: 'viewer' })
    await boss.updateWorkspaceMember({ id: other, role: 'developer' })
    expect(await records(`&userId=${id}`)).toMatchObject([
      { action: 'UPDATE_WORKSPACE_MEMBER', userEmail: email, resourceId: other, value: 'role=developer' },
      {
        action: 'ADD_WORKSPACE_MEMBER',
        userEmail: email,
        resourceId: other,
        value: 'email=other@example.com, role=viewer',
      },
      { action: 'ADD_WORKSPACE_MEMBER', operation: 'acceptInvitation', userEmail: email, resourceId: id },
    ])
    // It stays when the account is gone.
    await client.deleteWorkspaceMember({ id })
    expect(await records(`&userId=${id}&operation=updateWorkspaceMember`)).toMatchObject([{ userEmail: email }])
  })

  test('is not left by what was refused', async () => {
    const viewer = await createMember(platform, 'viewer', platform.workspaceId)
    const before = await records()
    await platform.ask('POST', '/v1/admin/bots', {}, viewer)
    await platform.ask('DELETE', '/v1/admin/bots/none', {})
    await platform.ask('POST', '/v1/admin/bots', { code: 'this does not parse' })
    await platform.ask('POST', '/v1/admin/workspaces', {}, { 'idempotency-key': 'refused' })
    expect(await records()).toEqual(before)
  })

  test('is one for a request that is sent again with its key', async () => {
    const { bot } = await client.createBot({})
    const key = { 'idempotency-key': 'once' }
    const ask = () => platform.ask('POST', '/v1/admin/bots/baks', { botId: bot.id }, key)
    const [first, again] = [await ask(), await ask()]
    expect(again.body).toEqual(first.body)
    expect(await records(`&resourceId=${first.body.id}`)).toHaveLength(1)
  })

  test('of something that failed for our reasons stays, its outcome unknown', async () => {
    const { bot } = await client.createBot({})
    const { db } = platform.context
    await db.raw(`create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$`)
    await db.raw('create trigger refuse before update on bots for each row execute function refuse()')
    try {
      expect(await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { name: 'other' })).toMatchObject({ status: 500 })
    } finally {
      await db.raw('drop function refuse cascade')
    }
    const [record] = await records(`&resourceId=${bot.id}&operation=updateBot`)
    expect(record).toMatchObject({ outcome: 'unknown', value: 'name' })
  })

  test('is seen in its own workspace alone, page by page', async () => {
    const stranger = await createMember(platform, 'owner')
    await platform.ask('POST', '/v1/admin/bots', {}, stranger)
    const workspaceId = stranger['x-workspace-id']
    const path = `/v1/admin/workspaces/${workspaceId}/audit-records`
    const { body } = await platform.ask('GET', path, undefined, stranger)
    expect(body.records).toMatchObject([{ action: 'CREATE_BOT' }])
    const all = await records()
    expect(all.map(({ id }: { id: string }) => id)).not.toContain(body.records[0].id)
    const first = await client.getAuditRecords({ id: platform.workspaceId, pageSize: 2 })
    const second = await client.getAuditRecords({
      id: platform.workspaceId,
      pageSize: 2,
      ...(first.meta.nextToken && { nextToken: first.meta.nextToken }),
    })
    expect([...first.records, ...second.records]).toEqual(all.slice(0, 4))
  })
})

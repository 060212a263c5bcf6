import { Client } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { storeIntegration } from '../../../support/install-integration.ts'
import { addMember, createMember } from '../../../support/members.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'

let platform: Platform
let client: Client
beforeAll(async () => {
  platform = await openPlatform()
  client = new Client({ apiUrl: platform.url, token: platform.token, workspaceId: platform.workspaceId })
})
afterAll(() => platform[Symbol.asyncDispose]())

/** The status of a request for a conversation that does not exist: 404 only for callers that may act as the bot. */
async function statusAs(token: string, botId: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'x-workspace-id': undefined, 'x-bot-id': botId }
  return (await platform.ask('GET', '/v1/chat/conversations/conv_none', undefined, headers)).status
}

describe('a bot’s key', () => {
  test('acts as that bot and no other, until it is deleted', async () => {
    const [bot, other] = [await platform.createBot(), await platform.createBot()]
    const { id, note, value } = await client.createBotApiKey({ botId: bot.id, note: 'for the till' })
    expect(value).toMatch(/^bak_[\w-]{36}$/)
    expect(note).toBe('for the till')
    expect(await statusAs(value, bot.id)).toBe(404)
    expect(await statusAs(value, other.id)).toBe(403)
    await client.deleteBotApiKey({ id })
    expect(await statusAs(value, bot.id)).toBe(401)
    await expect(client.deleteBotApiKey({ id })).rejects.toMatchObject({ type: 'ResourceNotFound' })
  })

  test('opens no Admin API', async () => {
    const bot = await platform.createBot()
    const { value } = await client.createBotApiKey({ botId: bot.id })
    const answer = await platform.ask('GET', `/v1/admin/bots/${bot.id}`, undefined, {
      authorization: `Bearer ${value}`,
    })
    expect(answer).toMatchObject({ status: 403, body: { type: 'Forbidden' } })
  })

  test('is listed with its bot, the newest first and without its value, which is nowhere in the database', async () => {
    const [bot, other] = [await platform.createBot(), await platform.createBot()]
    const first = await client.createBotApiKey({ botId: bot.id, note: 'first' })
    const second = await client.createBotApiKey({ botId: bot.id })
    await client.createBotApiKey({ botId: other.id })
    expect(await client.listBotApiKeys({ botId: bot.id })).toEqual({
      baks: [
        { id: second.id, createdAt: second.createdAt, note: '' },
        { id: first.id, createdAt: first.createdAt, note: 'first' },
      ],
    })
    const rows = JSON.stringify(await platform.context.db('tokens'))
    expect(rows).toContain(first.id)
    expect(rows).not.toContain(first.value)
  })

  test('of another workspace can be neither made, nor seen, nor deleted', async () => {
    const bot = await platform.createBot()
    const { id, value } = await client.createBotApiKey({ botId: bot.id })
    const stranger = await createMember(platform, 'owner')
    for (const [method, path, body] of [
      ['POST', '/v1/admin/bots/baks', { botId: bot.id }],
      ['GET', `/v1/admin/bots/baks?botId=${bot.id}`],
      ['DELETE', `/v1/admin/bots/baks/${id}`, {}],
    ] as const) {
      const answer = await platform.ask(method, path, body, stranger)
      expect(answer).toMatchObject({ status: 404, body: { type: 'ResourceNotFound' } })
    }
    expect(await statusAs(value, bot.id)).toBe(404)
  })
})

describe('an integration’s key', () => {
  test('is made, listed and deleted like a bot’s, and a key of the other kind does not answer to its id', async () => {
    const { integration } = await client.createIntegration({
      name: 'shop',
      version: '1.0.0',
      code: 'export async function register() {}',
    })
    const { id, createdAt, value } = await client.createIntegrationApiKey({ integrationId: integration.id })
    expect(value).toMatch(/^iak_[\w-]{36}$/)
    const keys = () => client.listIntegrationApiKeys({ integrationId: integration.id })
    expect(await keys()).toEqual({ iaks: [{ id, createdAt, note: '' }] })
    await expect(client.deleteBotApiKey({ id })).rejects.toMatchObject({ type: 'ResourceNotFound' })
    await client.deleteIntegrationApiKey({ id })
    expect(await keys()).toEqual({ iaks: [] })
  })

  test('opens no bot that has not installed it', async () => {
    const bot = await platform.createBot()
    const { integration } = await client.createIntegration({
      name: 'kiosk',
      version: '1.0.0',
      code: 'export async function register() {}',
    })
    const { value } = await client.createIntegrationApiKey({ integrationId: integration.id })
    expect(await statusAs(value, bot.id)).toBe(403)
  })
})

describe('the number of tokens is bounded', () => {
  test.for(['bot', 'integration', 'account'] as const)(
    'of each %s, also when they are asked for at once',
    async (kind) => {
      const owner = await createOwner(kind)
      await owner.fill(98)
      const results = await Promise.allSettled(Array.from({ length: 5 }, () => owner.create()))
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
      const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
      for (const refusal of refusals) {
        expect(refusal).toMatchObject({
          type: 'LimitExceeded',
          code: 413,
          message: expect.stringContaining('at most 100 tokens: delete one first'),
          metadata: { limit: 100 },
        })
      }
      const [first] = await owner.list()
      await owner.remove(first!.id)
      expect(await owner.create()).toHaveProperty('id')
      // Others have their own hundred.
      expect(await (await createOwner(kind)).create()).toHaveProperty('id')
    },
  )
})

/** Makes an owner of tokens, as the published client asks for them; `fill` stores many at once. */
async function createOwner(kind: 'bot' | 'integration' | 'account') {
  const { db } = platform.context
  const fill =
    (columns: object, present = 0) =>
    async (wanted: number) => {
      const missing = Array.from({ length: wanted - present }, () => newId('pat'))
      await db('tokens').insert(missing.map((id) => ({ id, hash: Buffer.from(id), note: '', ...columns })))
    }
  if (kind === 'bot') {
    const { id: botId } = await platform.createBot()
    return {
      fill: fill({ kind, bot_id: botId }),
      create: () => client.createBotApiKey({ botId }),
      list: async () => (await client.listBotApiKeys({ botId })).baks,
      remove: (id: string) => client.deleteBotApiKey({ id }),
    }
  }
  if (kind === 'integration') {
    const integrationId = await storeIntegration(platform)
    return {
      fill: fill({ kind, integration_id: integrationId }),
      create: () => client.createIntegrationApiKey({ integrationId }),
      list: async () => (await client.listIntegrationApiKeys({ integrationId })).iaks,
      remove: (id: string) => client.deleteIntegrationApiKey({ id }),
    }
  }
  const { id, token } = await addMember(client, `${newId('account')}@example.com`, 'viewer')
  const own = new Client({ apiUrl: platform.url, token, workspaceId: platform.workspaceId })
  return {
    fill: fill({ kind: 'personal', account_id: id }, 1),
    create: async () => (await own.createPersonalAccessToken({ note: '' })).pat,
    list: async () => (await own.listPersonalAccessTokens({})).pats,
    remove: (tokenId: string) => own.deletePersonalAccessToken({ id: tokenId }),
  }
}

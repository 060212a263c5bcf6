import { Client } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMember } from '../members.ts'
import { openPlatform, type Platform } from '../platform.ts'

let platform: Platform
let client: Client
beforeAll(async () => {
  platform = await openPlatform()
  client = new Client({ apiUrl: platform.url, token: platform.token, workspaceId: platform.workspaceId })
})
afterAll(() => platform[Symbol.asyncDispose]())

/** What the platform answers who asks for a conversation that is not there: 404 only to who may act as the bot. */
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

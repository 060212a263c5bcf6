import { Client } from '@botpress/client'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createChatUser } from '../../../support/chat-client.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../../support/platform.ts'

let platform: Platform
let client: Client
const since = '2024-01-01T00:00:00Z'
let bot: DeployedBot
const logs = async (filter: string) => {
  const { status, body } = await platform.ask('GET', `/v1/admin/bots/${bot.id}/logs?timeStart=${since}${filter}`)
  expect({ status, body }).toMatchObject({ status: 200 })
  return body as { logs: { id: string; message: string; timestamp: string }[]; nextToken?: string }
}
const messages = async (filter: string) => (await logs(filter)).logs.map(({ message }) => message)
let said: { conversationId: string; userId: string }[]

beforeAll(async () => {
  platform = await openPlatform()
  client = new Client({ apiUrl: platform.url, token: platform.token, workspaceId: platform.workspaceId })
  bot = await platform.createBot(`export const hooks = { afterIncomingMessage({ event, logger }) {
    logger.info('heard', event.preview)
    logger.warn('and WONDERED')
  } }`)
  said = []
  for (const text of ['first', 'second']) {
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    await chatUser.send(conversationId, text)
    await vi.waitUntil(async () => (await messages('')).length === 2 * said.length + 2, 10_000)
    said.push({ conversationId, userId: '' })
    const row = await platform.context.db('events').where({ conversation_id: conversationId }).first()
    said.at(-1)!.userId = row!.user_id!
  }
})

afterAll(() => platform[Symbol.asyncDispose]())

test('a bot’s log is read with the published client, the last lines first', async () => {
  const { logs: lines } = await client.getBotLogs({ id: bot.id, timeStart: since, messageContains: 'heard' })
  expect(lines).toMatchObject([
    { level: 'info', message: 'heard second', ...said[1] },
    { level: 'info', message: 'heard first', ...said[0] },
  ])
})

test('a bot’s log is narrowed by level, conversation, user, words and times', async () => {
  expect(await messages('&level=warn')).toEqual(['and WONDERED', 'and WONDERED'])
  expect(await messages('&messageContains=wondered')).toHaveLength(2)
  expect(await messages(`&conversationId=${said[0]!.conversationId}&level=info`)).toEqual(['heard first'])
  expect(await messages(`&userId=${said[1]!.userId}&level=info`)).toEqual(['heard second'])
  expect(await messages('&messageContains=%25')).toEqual([])
  expect(await messages('&timeEnd=2024-01-02T00:00:00Z')).toEqual([])
  const [last] = (await logs('')).logs
  expect(await messages(`&timeEnd=${last!.timestamp}`)).toHaveLength(4)
})

test('a bot’s log is read on page by page, in either direction', async () => {
  const all = (await logs('&sortDirection=asc')).logs
  for (const direction of ['asc', 'desc']) {
    const pages: typeof all = []
    let nextToken: string | undefined = ''
    while (nextToken !== undefined) {
      const page = await logs(`&pageSize=3&sortDirection=${direction}${nextToken && `&nextToken=${nextToken}`}`)
      pages.push(...page.logs)
      nextToken = page.nextToken
    }
    expect(direction === 'asc' ? pages : pages.toReversed()).toEqual(all)
  }
  const token = Buffer.from('1 msg_1').toString('base64url')
  const path = `/v1/admin/bots/${bot.id}/logs?timeStart=${since}&nextToken=${token}`
  expect(await platform.ask('GET', path)).toMatchObject({ status: 400, body: { type: 'InvalidQuery' } })
})

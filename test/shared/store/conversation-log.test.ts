import { Client } from '@botpress/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readLog, type ReadEntry } from '#shared/store/conversation-log.ts'
import { megabyte } from '#shared/units.ts'
import { createChatUser } from '../../support/chat-client.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
})
afterAll(() => platform[Symbol.asyncDispose]())

const count = 10
const large = (index: number) => `${index} ${'x'.repeat(300_000)}`

test('a page of a log has at most 1 MB of each kind, and the pages together have every entry once and in order', async () => {
  const bot = await platform.createBot()
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  const { db } = platform.context
  const { id: storedId } = (await db('conversations').where({ bot_id: bot.id }).first('id'))!
  const client = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.id })
  for (let index = 0; index < count; index += 1) {
    const { body } = await chatUser.send(conversationId, large(index))
    const { status } = await chatUser.ask('POST', '/events', { conversationId, payload: { text: large(index) } })
    expect(status).toBe(201)
    await client.updateMessage({ id: body.message.id, tags: {}, payload: { text: large(index) } })
  }
  const { clock } = (await db('conversations').where({ id: storedId }).first('clock'))!
  const entries: ReadEntry[] = []
  for (let at = new Date(0); at < clock;) {
    const page = await readLog(db, { botId: bot.id, conversationId: storedId }, at, clock)
    expect(JSON.stringify(page.entries).length).toBeLessThan(3.1 * megabyte)
    entries.push(...page.entries)
    at = page.until
  }
  const kinds = ['message_created', 'event_created', 'message_updated']
  const logged = entries.flatMap(({ signal }) =>
    kinds.includes(signal.type) ? [`${signal.type} ${JSON.stringify(signal.data).match(/"text":"(\d+)/)?.[1]}`] : [],
  )
  expect(logged).toEqual(Array.from({ length: count }, (_, index) => kinds.map((kind) => `${kind} ${index}`)).flat())
})

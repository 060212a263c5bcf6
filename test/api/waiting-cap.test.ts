import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorker } from '../../worker/worker.ts'
import { createChatUser } from '../support/chat-client.ts'
import { installIntegration, storeIntegration } from '../support/install-integration.ts'
import { openPlatform, type Answer, type DeployedBot, type Platform } from '../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ worker: false, environment: { BOT_WAITING_EVENTS: '20' } })
})
afterAll(() => platform[Symbol.asyncDispose]())

/** Messages that one process may accept beyond the limit. */
const overshoot = 2

async function countOf(table: 'events' | 'messages', bot: DeployedBot): Promise<number> {
  const [row] = await platform.context.db(table).where({ bot_id: bot.id }).count()
  return Number(row!['count'])
}

/** Does something until it is refused, and gives how often it was not. */
async function untilRefused(act: () => Promise<Answer>): Promise<{ accepted: number; refusal: Answer }> {
  for (let accepted = 0; accepted < 100; accepted++) {
    const answer = await act()
    if (answer.status >= 400) return { accepted, refusal: answer }
  }
  throw new Error('It was not refused')
}

const tooMany = { status: 429, body: { type: 'RateLimited', code: 429 } }

test('a bot for which too many messages wait takes no more of anything, and stores nothing of it; others do', async () => {
  const bot = await platform.createBot()
  const other = await platform.createBot()
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  const { accepted, refusal } = await untilRefused(() => chatUser.send(conversationId, 'hello'))
  expect(accepted).toBeGreaterThanOrEqual(20)
  expect(accepted).toBeLessThanOrEqual(20 + overshoot)
  expect(refusal).toMatchObject(tooMany)
  expect(refusal.headers.get('retry-after')).toBe('1')
  const before = await countOf('events', bot)

  const asBot = { 'x-bot-id': bot.id }
  const event = { type: 'tick', payload: {} }
  expect(await platform.ask('POST', '/v1/chat/events', event, asBot)).toMatchObject(tooMany)
  expect(await chatUser.ask('POST', '/events', { conversationId, payload: {} })).toMatchObject(tooMany)
  const workflow = { name: 'task', status: 'pending' }
  expect(await platform.ask('POST', '/v1/chat/workflows', workflow, asBot)).toMatchObject(tooMany)
  const { webhook_id: webhookId } = await installIntegration(platform, bot.id, await storeIntegration(platform))
  const delivered = await fetch(`${platform.url}/webhooks/${webhookId}/`, { method: 'POST', body: 'a delivery' })
  expect(delivered.status).toBe(429)
  expect(delivered.headers.get('retry-after')).toBe('1')
  expect(await delivered.json()).toMatchObject(tooMany.body)

  expect(await countOf('events', bot)).toBe(before)
  expect(await countOf('messages', bot)).toBe(accepted)
  expect(await platform.context.db('webhook_bodies').first()).toBeUndefined()
  // Scheduled events and the bot's own messages do not count as waiting.
  const later = { ...event, schedule: { delay: 3_600_000 } }
  expect((await platform.ask('POST', '/v1/chat/events', later, asBot)).status).toBe(201)
  const reply = { conversationId, type: 'text', payload: { text: 'busy' } }
  expect((await platform.ask('POST', '/v1/chat/messages', reply, asBot)).status).toBe(201)
  const neighbour = await createChatUser(other.chatUrl)
  expect((await neighbour.send(await neighbour.createConversation(), 'hello')).status).toBe(201)
})

test('a bot takes messages again as soon as it has handled some', async () => {
  const bot = await platform.createBot()
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  await untilRefused(() => chatUser.send(conversationId, 'hello'))
  await using worker = new AsyncDisposableStack()
  worker.use(await startWorker(platform.context))
  await expect
    .poll(async () => (await chatUser.send(conversationId, 'again')).status, { timeout: 20_000, interval: 100 })
    .toBe(201)
})

test('messages that come at once do not exceed the limit by more than a process may', async () => {
  const bot = await platform.createBot()
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  const answers = await Promise.all(Array.from({ length: 60 }, () => chatUser.send(conversationId, 'hello')))
  const accepted = answers.filter(({ status }) => status === 201).length
  expect(accepted).toBeGreaterThan(0)
  expect(accepted).toBeLessThanOrEqual(20 + overshoot)
  expect(await countOf('messages', bot)).toBe(accepted)
})

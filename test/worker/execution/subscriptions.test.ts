import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChatUser } from '../../support/chat-client.ts'
import { installIntegration, storeIntegration } from '../../support/install-integration.ts'
import { endedEvents } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

const listener = `
  export const hooks = { afterIncomingEvent() {}, afterIncomingMessage() {} }
  export const actions = { greet: () => ({ text: 'hello' }) }`

/** Creates a bot that has subscribed to these events and gets some of the bot's own and an integration's, and a message. */
async function outcomesOf(events: object | null | undefined) {
  const { id } = await platform.createBot(listener)
  const bot = await platform.ask('PUT', `/v1/admin/bots/${id}`, { subscriptions: { events } })
  const integrationId = await storeIntegration(platform)
  await installIntegration(platform, id, integrationId, { alias: 'mail' })
  const create = async (type: string, headers: object = {}) => {
    const event = { type, payload: {} }
    expect((await platform.ask('POST', '/v1/chat/events', event, { 'x-bot-id': id, ...headers })).status).toBe(201)
  }
  await create('sold')
  await create('returned')
  await create('sold', { 'x-integration-id': integrationId })
  const chatUser = await createChatUser(bot.body.bot.integrations.chat.webhookUrl)
  await chatUser.send(await chatUser.createConversation(), 'hello')
  const called = await platform.ask('POST', '/v1/chat/actions', { type: 'greet', input: {} }, { 'x-bot-id': id })
  expect(called).toMatchObject({ status: 200, body: { output: { text: 'hello' } } })
  return Object.fromEntries((await endedEvents(platform, id, 5)).map(({ type, status }) => [type, status]))
}

const all = {
  sold: 'processed',
  returned: 'processed',
  'mail:sold': 'processed',
  message_created: 'processed',
  action_triggered: 'processed',
}

test.for([
  ['nothing is said of subscriptions', undefined],
  ['they are null', null],
])('a bot hears of all events when %s', async ([, events]) => {
  expect(await outcomesOf(events as null | undefined)).toEqual(all)
})

test.for([
  [['sold'], { returned: 'ignored', 'mail:sold': 'ignored', message_created: 'ignored' }],
  [['mail:sold', 'message_created'], { sold: 'ignored', returned: 'ignored' }],
  [[], { sold: 'ignored', returned: 'ignored', 'mail:sold': 'ignored', message_created: 'ignored' }],
] as const)(
  'of those that it has subscribed to alone, as it sees them, and to calls of its actions: %j',
  async ([types, others]) => {
    const events = Object.fromEntries(types.map((type) => [type, {}]))
    expect(await outcomesOf(events)).toEqual({ ...all, ...others })
  },
)

import { afterAll, beforeAll, expect, test } from 'vitest'
import { endedEvents } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ backEnd: 'postgres' })
})
afterAll(() => platform[Symbol.asyncDispose]())

/** A bundle that logs its requests, as those of the public SDK 7 take them. */
const bundle = `exports.handler = async ({ headers, body }) => {
  console.log(headers['x-bp-operation'] + ' ' + body)
  return { status: 200 }
}`

async function createTalk(extraOperations: object) {
  const definition = {
    name: `mirror-${crypto.randomUUID().slice(0, 8)}`,
    version: '1.0.0',
    channels: {
      channel: {
        messages: { text: { schema: {} } },
        conversation: { tags: { topic: {} } },
        message: { tags: { outside: {} } },
      },
    },
    extraOperations,
  }
  const { body: created } = await platform.ask('POST', '/v1/admin/integrations', { ...definition, code: bundle })
  const { id: botId } = await platform.createBot()
  const integrations = { mirror: { integrationId: created.integration.id, enabled: true, configuration: {} } }
  await platform.ask('PUT', `/v1/admin/bots/${botId}`, { integrations })
  const asBot = { 'x-bot-id': botId }
  const asIntegration = { ...asBot, 'x-integration-id': created.integration.id }
  const ask = async (method: string, path: string, body?: object, headers: Record<string, string> = asBot) =>
    (await platform.ask(method, `/v1/chat${path}`, body, headers)).body
  const { conversation } = await ask(
    'POST',
    '/conversations',
    { channel: 'channel', tags: { topic: 'old' } },
    asIntegration,
  )
  const said = { conversationId: conversation.id, userId: botId, type: 'text', payload: { text: 'First' }, tags: {} }
  const { message } = await ask('POST', '/messages', said)
  return { botId, ask, asIntegration, conversationId: conversation.id as string, messageId: message.id as string }
}

/** The operations of an integration, with the bodies of their requests. */
async function requestsOf(botId: string) {
  const lines: string[] = await platform.context.db('logs').where({ bot_id: botId }).orderBy('id').pluck('message')
  return lines
    .map((line) => /^(\w+) (\{.*)$/s.exec(line))
    .filter((found) => found !== null)
    .map(([, operation, body]) => ({ operation, body: JSON.parse(body!) }))
}

test('an integration that enables them receives the bot’s changes of messages and conversations, in order', async () => {
  const enabled = { message_updated: { enabled: true }, conversation_updated: { enabled: true } }
  const { botId, ask, asIntegration, conversationId, messageId } = await createTalk(enabled)
  await ask('PUT', `/messages/${messageId}`, { payload: { text: 'Second' }, tags: { 'mirror:outside': 'yes' } })
  await ask('PUT', `/conversations/${conversationId}`, { tags: { 'mirror:topic': 'new' } })
  // Its own changes are nothing new to it.
  await ask('PUT', `/messages/${messageId}`, { tags: { outside: 'no' } }, asIntegration)
  await ask('PUT', `/conversations/${conversationId}`, { tags: { topic: 'own' } }, asIntegration)
  await endedEvents(platform, botId, 4)
  const requests = (await requestsOf(botId)).filter(({ operation }) => operation !== 'register')
  expect(requests.map(({ operation }) => operation)).toEqual([
    'message_created',
    'message_updated',
    'conversation_updated',
  ])
  const [, message, conversation] = requests
  expect(message!.body).toMatchObject({
    type: 'text',
    payload: { text: 'Second' },
    conversation: { id: conversationId, channel: 'channel' },
    user: { id: botId },
    currentMessage: { id: messageId, payload: { text: 'Second' }, tags: { outside: 'yes' } },
    previousMessage: { id: messageId, payload: { text: 'First' }, tags: {} },
  })
  expect(conversation!.body).toMatchObject({
    currentConversation: { id: conversationId, channel: 'channel', tags: { topic: 'new' } },
    previousConversation: { id: conversationId, tags: { topic: 'old' } },
  })
})

test('an integration of an older SDK, which enables none, is not asked', async () => {
  const { botId, ask, conversationId, messageId } = await createTalk({ message_updated: { enabled: false } })
  await ask('PUT', `/messages/${messageId}`, { payload: { text: 'Second' } })
  await ask('PUT', `/conversations/${conversationId}`, { properties: { a: 'b' } })
  await endedEvents(platform, botId, 2)
  const types = await platform.context.db('events').where({ bot_id: botId }).pluck('type')
  expect(types.toSorted()).toEqual(['message_created', 'register'])
})

test('a bot of the public SDK registers after each deployment of its code', async () => {
  const { id } = await platform.createBot(bundle)
  await platform.ask('PUT', `/v1/admin/bots/${id}`, { code: `${bundle}\n` })
  await endedEvents(platform, id, 2)
  expect((await requestsOf(id)).map(({ operation }) => operation)).toEqual(['register', 'register'])
})

test('a change is stored with its event or not at all', async () => {
  const enabled = { message_updated: { enabled: true }, conversation_updated: { enabled: true } }
  const { botId, ask, conversationId, messageId } = await createTalk(enabled)
  const { db } = platform.context
  await db.raw(`
    create function refuse_updates() returns trigger language plpgsql as $$
    begin
      if new.bot_id = '${botId}' then raise exception 'refused'; end if;
      return new;
    end $$`)
  await db.raw(`create trigger refuse_updates before insert on events for each row execute function refuse_updates()`)
  const message = await ask('PUT', `/messages/${messageId}`, { payload: { text: 'Second' } })
  const conversation = await ask('PUT', `/conversations/${conversationId}`, { tags: { 'mirror:topic': 'new' } })
  await db.raw('drop trigger refuse_updates on events')
  expect([message.type, conversation.type]).toEqual(['Internal', 'Internal'])
  expect(await ask('GET', `/messages/${messageId}`)).toMatchObject({ message: { payload: { text: 'First' } } })
  const now = await ask('GET', `/conversations/${conversationId}`)
  expect(now).toMatchObject({ conversation: { tags: { 'mirror:topic': 'old' } } })
})

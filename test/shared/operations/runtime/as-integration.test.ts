import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { InstallationRow } from '#shared/models/tables.ts'
import { createChatUser } from '../../../support/chat-client.ts'
import type { Ask } from '../../../support/entry-points.ts'
import { installIntegration, storeIntegration } from '../../../support/install-integration.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../../support/platform.ts'

const echo = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      await client.createMessage({ conversationId: event.conversationId, type: 'parrot', payload: { said: event.preview } })
    },
  }`

let platform: Platform
let bot: DeployedBot
let integrationId: string
let installation: InstallationRow
let asBot: Ask
let asIntegration: Ask
let asOther: Ask
beforeAll(async () => {
  platform = await openPlatform()
  bot = await platform.createBot(echo)
  integrationId = await storeIntegration(platform)
  installation = await installIntegration(platform, bot.id, integrationId, { alias: 'mail' })
  const otherId = await storeIntegration(platform)
  await installIntegration(platform, bot.id, otherId, { alias: 'phone' })
  const as = (headers: object): Ask => {
    return (method, path, body) => platform.ask(method, path, body, { 'x-bot-id': bot.id, ...headers })
  }
  asBot = as({})
  asIntegration = as({ 'x-integration-id': integrationId })
  asOther = as({ 'x-integration-id': otherId })
})
afterAll(() => platform[Symbol.asyncDispose]())

const notFound = { status: 404, body: { type: 'ResourceNotFound' } }
const referenceNotFound = { status: 400, body: { type: 'ReferenceNotFound' } }

async function createConversation(fields: object = {}) {
  const { body } = await asIntegration('POST', '/v1/chat/conversations', { channel: 'inbox', ...fields })
  return body.conversation
}

async function createUser(fields: object = {}) {
  return (await asIntegration('POST', '/v1/chat/users', fields)).body.user
}

function eventsOf(conversationId: string) {
  return platform.context.db('events').where({ conversation_id: conversationId }).orderBy(['created_at', 'id'])
}

const initialize = (input: object) => asIntegration('POST', '/v1/chat/initialize-incoming-message', input)

describe('tags', () => {
  test('an integration sees its own by their keys, and the bot sees all, with the alias before those', async () => {
    const { id, ...created } = await createConversation({ tags: { thread: '7' } })
    expect(created).toMatchObject({ integration: 'tool', tags: { thread: '7' } })
    const path = `/v1/chat/conversations/${id}`
    expect((await asBot('PUT', path, { tags: { mood: 'fine' } })).body.conversation.tags).toEqual({
      'mail:thread': '7',
      mood: 'fine',
    })
    expect((await asIntegration('GET', path)).body.conversation.tags).toEqual({ thread: '7' })
    await asBot('PUT', path, { tags: { 'mail:thread': '8' } })
    await asIntegration('PUT', path, { tags: { mood: null, more: 'x' } })
    expect((await asBot('GET', path)).body.conversation.tags).toEqual({
      'mail:thread': '8',
      'mail:more': 'x',
      mood: 'fine',
    })
  })

  test('a row is found by its tags when the bot has added others', async () => {
    const tags = { thread: randomUUID() }
    const { id } = await createConversation({ tags })
    await asBot('PUT', `/v1/chat/conversations/${id}`, { tags: { mood: 'fine' } })
    const got = await asIntegration('POST', '/v1/chat/conversations/get-or-create', { channel: 'inbox', tags })
    expect(got.body).toMatchObject({ conversation: { id, tags }, meta: { created: false } })
    const filter = `tags.thread=${tags.thread}`
    const listed = await asIntegration('GET', `/v1/chat/conversations?${filter}`)
    expect(listed.body.conversations).toMatchObject([{ id }])
    expect((await asBot('GET', `/v1/chat/conversations?${filter}`)).body.conversations).toEqual([])
    const asSeenByBot = await asBot('GET', `/v1/chat/conversations?tags.mail%3Athread=${tags.thread}`)
    expect(asSeenByBot.body.conversations).toMatchObject([{ id }])
  })
})

describe('messages', () => {
  test('an integration’s messages are incoming: the bot handles them, and its replies are delivered', async () => {
    const { id: conversationId } = await createConversation()
    const { id: userId } = await createUser({ name: 'Ann' })
    const given = { conversationId, userId, type: 'letter', payload: { text: 'hello' }, tags: { uid: '1' } }
    const created = await asIntegration('POST', '/v1/chat/messages', { ...given, origin: 'synthetic' })
    expect(created).toMatchObject({
      status: 201,
      body: { message: { ...given, direction: 'incoming', origin: 'synthetic' } },
    })
    const outgoing = () =>
      platform.context.db('messages').where({ conversation_id: conversationId, direction: 'outgoing' })
    await expect.poll(async () => (await outgoing()).length, { timeout: 20_000 }).toBe(1)
    const [reply] = await outgoing()
    expect(reply).toMatchObject({ type: 'parrot', payload: { said: 'hello' }, user_id: bot.id })
    const [received, delivery, ...others] = await eventsOf(conversationId)
    expect(received).toMatchObject({
      type: 'message_created',
      direction: 'incoming',
      mailbox: conversationId,
      message_id: created.body.message.id,
      user_id: userId,
      integration: 'tool',
      installation_id: null,
    })
    expect(delivery).toMatchObject({
      type: 'message_created',
      direction: 'outgoing',
      mailbox: `${conversationId}:out`,
      message_id: reply!.id,
      user_id: bot.id,
      integration: 'tool',
      installation_id: installation.id,
    })
    expect(others).toEqual([])
    // A worker was woken for it: the sweep would come much later.
    const attempts = async () => (await eventsOf(conversationId))[1]!.attempt
    await expect.poll(attempts, { timeout: 10_000 }).toBeGreaterThan(0)
    const { body } = await asIntegration('GET', `/v1/chat/conversations/${conversationId}/participants`)
    expect(body.participants).toMatchObject([{ id: userId }])
    expect((await asBot('GET', `/v1/chat/messages/${created.body.message.id}`)).body.message.tags).toEqual({
      'mail:uid': '1',
    })
  })

  test('the bot’s messages in a chat make no delivery', async () => {
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    const said = { conversationId, type: 'text', payload: { text: 'hi' } }
    expect((await asBot('POST', '/v1/chat/messages', said)).status).toBe(201)
    expect(await eventsOf(conversationId)).toEqual([])
  })

  test('an integration says whose message it is', async () => {
    const { id: conversationId } = await createConversation()
    const given = { conversationId, type: 'text', payload: { text: 'hi' } }
    expect(await asIntegration('POST', '/v1/chat/messages', given)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('userId') },
    })
  })

  test('getOrCreateMessage brings a message in once', async () => {
    const { id: conversationId } = await createConversation()
    const { id: userId } = await createUser()
    const given = { conversationId, userId, type: 'text', payload: { text: 'hi' }, tags: { uid: randomUUID() } }
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => asIntegration('POST', '/v1/chat/messages/get-or-create', given)),
    )
    expect(new Set(answers.map(({ body }) => body.message.id)).size).toBe(1)
    const received = (await eventsOf(conversationId)).filter(({ direction }) => direction === 'incoming')
    expect(received).toHaveLength(1)
  })

  test('initializeIncomingMessage gets or creates user, conversation and message, and the bot receives it once', async () => {
    const [email, thread, uid] = [randomUUID(), randomUUID(), randomUUID()]
    const given = {
      user: { tags: { email }, name: 'Ann', discriminateByTags: ['email'] },
      conversation: { channel: 'inbox', tags: { thread }, discriminateByTags: ['thread'] },
      message: { type: 'text', payload: { text: 'hi' }, tags: { uid }, discriminateByTags: ['uid'] },
    }
    const first = await initialize(given)
    const { user, conversation, message } = first.body
    expect(first).toMatchObject({
      status: 200,
      body: {
        user: { name: 'Ann', tags: { email } },
        conversation: { channel: 'inbox', tags: { thread } },
        message: { userId: user.id, conversationId: conversation.id, tags: { uid }, direction: 'incoming' },
      },
    })
    const again = await initialize(given)
    expect([again.body.user.id, again.body.conversation.id]).toEqual([user.id, conversation.id])
    expect(again.body.message).toEqual(message)
    const received = (await eventsOf(conversation.id)).filter(({ direction }) => direction === 'incoming')
    expect(received).toHaveLength(1)
    const byIds = await initialize({ userId: user.id, conversationId: conversation.id })
    expect(byIds.body).toMatchObject({ user: { id: user.id }, conversation: { id: conversation.id } })
    expect(byIds.body).not.toHaveProperty('message')
    expect(await initialize({ conversationId: conversation.id })).toMatchObject({ status: 400 })
    expect(await initialize({ userId: user.id, conversationId: 'conv_none' })).toMatchObject(referenceNotFound)
  })
})

test('nothing of another integration, nor of the chat, is reached', async () => {
  const { id: conversationId } = await createConversation()
  const { id: userId } = await createUser()
  const given = { conversationId, userId, type: 'text', payload: { text: 'hi' } }
  const { message } = (await asIntegration('POST', '/v1/chat/messages', given)).body
  for (const path of [`conversations/${conversationId}`, `users/${userId}`, `messages/${message.id}`]) {
    expect(await asOther('GET', `/v1/chat/${path}`)).toMatchObject(notFound)
    expect(await asOther('PUT', `/v1/chat/${path}`, { tags: { x: 'y' } })).toMatchObject(notFound)
    expect(await asOther('DELETE', `/v1/chat/${path}`)).toMatchObject(notFound)
    expect((await asIntegration('GET', `/v1/chat/${path}`)).status).toBe(200)
  }
  for (const kind of ['conversations', 'users', 'messages']) {
    expect((await asOther('GET', `/v1/chat/${kind}`)).body[kind]).toEqual([])
  }
  const { id: theirs } = (await asOther('POST', '/v1/chat/conversations', { channel: 'line' })).body.conversation
  expect(await asIntegration('POST', '/v1/chat/messages', { ...given, conversationId: theirs })).toMatchObject(
    referenceNotFound,
  )
  expect(await asOther('POST', '/v1/chat/messages', { ...given, conversationId: theirs })).toMatchObject(
    referenceNotFound,
  )
  const chatUser = await createChatUser(bot.chatUrl)
  const chat = await chatUser.createConversation()
  expect(await asIntegration('GET', `/v1/chat/conversations/${chat}`)).toMatchObject(notFound)
  expect(await asIntegration('GET', `/v1/chat/users/${chatUser.userId}`)).toMatchObject(notFound)
  expect((await asIntegration('DELETE', `/v1/chat/users/${bot.id}`)).status).toBe(403)
})

test('an integration gives the bot’s own user a name, a picture and tags of its own, and leaves its properties', async () => {
  const path = `/v1/chat/users/${bot.id}`
  await asBot('PUT', path, { properties: { plan: 'gold' }, tags: { team: 'red' } })
  const pictureUrl = 'https://service.example/bot.png'
  const change = { name: 'Robin', pictureUrl, tags: { id: 'U7' }, properties: { plan: 'none' } }
  expect((await asIntegration('PUT', path, change)).body.user).toMatchObject({ name: 'Robin', tags: { id: 'U7' } })
  expect((await asBot('GET', path)).body.user).toMatchObject({
    name: 'Robin',
    pictureUrl,
    tags: { 'mail:id': 'U7', team: 'red' },
    properties: { plan: 'gold' },
  })
  expect((await asOther('GET', path)).body.user.tags).toEqual({})
})

test('a bot begins a conversation on an integration that it names, and messages of any type are taken there', async () => {
  const begun = await asBot('POST', '/v1/chat/conversations', { channel: 'inbox', integrationName: 'mail' })
  expect(begun.body.conversation).toMatchObject({ integration: 'tool', channel: 'inbox' })
  const conversationId = begun.body.conversation.id
  expect((await asIntegration('GET', `/v1/chat/conversations/${conversationId}`)).status).toBe(200)
  const said = { conversationId, type: 'hologram', payload: { any: ['thing'] } }
  expect(await asBot('POST', '/v1/chat/messages', said)).toMatchObject({
    status: 201,
    body: { message: { ...said, direction: 'outgoing' } },
  })
  expect(await asBot('POST', '/v1/chat/conversations', { channel: 'inbox', integrationName: 'tool' })).toMatchObject({
    status: 400,
    body: { type: 'InvalidPayload', message: expect.stringMatching(/mail.*phone/) },
  })
})

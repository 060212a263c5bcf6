import { randomUUID } from 'node:crypto'
import { Client, isApiError } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChatUser } from '../../../support/chat-client.ts'
import { installIntegration, storeIntegration } from '../../../support/install-integration.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'

let platform: Platform
let botId: string
let chatUrl: string
let client: Client
let integration: Client
beforeAll(async () => {
  platform = await openPlatform()
  const bot = await platform.createBot()
  botId = bot.id
  chatUrl = bot.chatUrl
  const integrationId = await storeIntegration(platform)
  await installIntegration(platform, botId, integrationId, { alias: 'mail' })
  await installIntegration(platform, botId, integrationId, { alias: 'post' })
  const connection = { apiUrl: platform.url, token: platform.token, botId }
  client = new Client(connection)
  integration = new Client({ ...connection, integrationId, integrationAlias: 'mail' })
})
afterAll(() => platform[Symbol.asyncDispose]())

const text = { type: 'text', payload: { text: 'hi' } }

describe('the published client, as a bot', () => {
  test('writes and reads the messages of a chat', async () => {
    const chatUser = await createChatUser(chatUrl)
    const conversationId = await chatUser.createConversation()
    const given = { ...text, conversationId, userId: botId, tags: { 'a.b:c': 'ä/ö' } }
    const { message } = await client.createMessage(given)
    expect(message).toMatchObject({ ...given, direction: 'outgoing' })
    expect(await client.getMessage({ id: message.id })).toEqual({ message })
    const { message: changed } = await client.updateMessage({ id: message.id, tags: { b: 'c' } })
    expect(changed.tags).toEqual({ 'a.b:c': 'ä/ö', b: 'c' })
    const got = await client.getOrCreateMessage({ ...given, discriminateByTags: ['a.b:c'] })
    expect([got.message.id, got.meta.created]).toEqual([message.id, false])
    const found = await client.listMessages({ conversationId, tags: { 'a.b:c': 'ä/ö', b: 'c' } })
    expect(found.messages.map(({ id }) => id)).toEqual([message.id])
    expect(await client.listMessages({ tags: { 'a.b:c': 'other' } })).toEqual({ messages: [], meta: {} })
    expect(await client.deleteMessage({ id: message.id })).toEqual({})
  })

  test('lists conversations by tags, participants and times, page by page', async () => {
    const run = randomUUID()
    const made = []
    for (const n of ['1', '2', '3']) {
      made.push((await client.createConversation({ channel: 'channel', tags: { run, 'x:n': n } })).conversation)
    }
    const ids = []
    for await (const conversation of client.list.conversations({ tags: { run }, pageSize: 2 }))
      ids.push(conversation.id)
    expect(ids).toEqual(made.map(({ id }) => id).toReversed())
    const [one, two] = made
    expect((await client.listConversations({ tags: { run, 'x:n': '2' } })).conversations).toEqual([two])
    const { user } = await client.createUser({ tags: {}, name: 'Ann' })
    await client.addParticipant({ id: one!.id, userId: user.id })
    await client.addParticipant({ id: one!.id, userId: botId })
    const both = await client.listConversations({ participantIds: [user.id, botId] })
    expect(both.conversations.map(({ id }) => id)).toEqual([one!.id])
    expect((await client.listParticipants({ id: one!.id })).participants.map(({ id }) => id)).toEqual([botId, user.id])
    expect((await client.getParticipant({ id: one!.id, userId: user.id })).participant).toEqual(user)
    await client.removeParticipant({ id: one!.id, userId: user.id })
    const ranged = await client.listConversations({
      tags: { run },
      afterDate: two!.createdAt,
      sortField: 'createdAt',
      sortDirection: 'asc',
      minMessageCount: 0,
    })
    expect(ranged.conversations.map(({ id }) => id)).toEqual(made.slice(1).map(({ id }) => id))
    await client.updateConversation({ id: one!.id, tags: { run: '', more: 'x' } })
    expect((await client.getConversation({ id: one!.id })).conversation.tags).toEqual({ 'x:n': '1', more: 'x' })
    expect(await client.deleteConversation({ id: one!.id })).toEqual({})
  })

  test('gets, lists, changes and deletes users', async () => {
    const tags = { id: randomUUID() }
    const { user, meta } = await client.getOrCreateUser({ tags, name: 'Ann', pictureUrl: 'https://a' })
    expect(meta.created).toBe(true)
    expect((await client.listUsers({ tags, rangeField: 'updatedAt', beforeDate: user.updatedAt })).users).toEqual([
      user,
    ])
    const { user: renamed } = await client.updateUser({ id: user.id, name: 'Anna', tags: { id: null } })
    expect(renamed).toMatchObject({ name: 'Anna', tags: {} })
    expect((await client.getUser({ id: user.id })).user).toEqual(renamed)
    expect(await client.deleteUser({ id: user.id })).toEqual({})
  })

  test('imports what was said before', async () => {
    const { conversation } = await client.createConversation({ channel: 'channel', tags: {} })
    const old = {
      ...text,
      conversationId: conversation.id,
      userId: botId,
      tags: { n: '1' },
      createdAt: '2020-01-01T00:00:00.000Z',
      discriminateByTags: ['n'],
    }
    const { messages } = await client.importMessages({ messages: [old, { ...old, tags: { n: '2' } }, old] })
    expect(messages.map(({ tags }) => tags['n'])).toEqual(['1', '2', '1'])
    expect(messages[2]).toEqual(messages[0])
  })

  test.each([
    ['what is not there', () => client.getConversation({ id: 'conv_none' }), 'ResourceNotFound', 404],
    [
      'a row that does not exist, named in the body',
      () => client.addParticipant({ id: 'conv_none', userId: botId }),
      'ResourceNotFound',
      404,
    ],
    [
      'a conversation that is not there',
      () => client.createMessage({ ...text, conversationId: 'conv_none', userId: botId, tags: {} }),
      'ReferenceNotFound',
      400,
    ],
    ['a body that is wrong', () => client.createUser({ tags: { a: 1 as unknown as string } }), 'InvalidPayload', 400],
    ['a page token of nobody', () => client.listUsers({ nextToken: 'x' }), 'InvalidQuery', 400],
    ['what only integrations may', () => client.initializeIncomingMessage({}), 'Forbidden', 403],
    ['what is gone', () => client.listTagValues({ key: 'a', type: 'user' }), 'ResourceGone', 410],
    [
      'somebody else’s bot',
      () => new Client({ apiUrl: platform.url, token: platform.token, botId: 'bot_none' }).listMessages({}),
      'Forbidden',
      403,
    ],
    [
      'a wrong token',
      () => new Client({ apiUrl: platform.url, token: 'wrong', botId }).listMessages({}),
      'Unauthorized',
      401,
    ],
  ])('is told of %s in an error of its own class', async (_what, call, type, code) => {
    const error: unknown = await (call() as Promise<unknown>).catch((reason: unknown) => reason)
    expect(isApiError(error)).toBe(true)
    expect(error).toMatchObject({ type, code, id: expect.stringMatching(/^err_/), message: expect.any(String) })
  })
})

test('the published client, as an integration that is installed twice, brings messages in', async () => {
  const [thread, email, uid] = [randomUUID(), randomUUID(), randomUUID()]
  const { conversation } = await integration.getOrCreateConversation({ channel: 'inbox', tags: { thread } })
  const { user } = await integration.getOrCreateUser({ tags: { email } })
  const given = { ...text, conversationId: conversation.id, userId: user.id, tags: { uid } }
  const { message } = await integration.createMessage(given)
  expect(message).toMatchObject({ ...given, direction: 'incoming' })
  const initialized = await integration.initializeIncomingMessage({
    user: { tags: { email }, discriminateByTags: ['email'] },
    conversation: { channel: 'inbox', tags: { thread }, discriminateByTags: ['thread'] },
    message: { ...text, tags: { uid }, discriminateByTags: ['uid'] },
  })
  expect(initialized).toEqual({
    user,
    conversation: { ...conversation, messageCount: 1 },
    message,
  })
  expect((await client.getMessage({ id: message.id })).message.tags).toEqual({ 'mail:uid': uid })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { hashToken } from '#shared/secrets.ts'
import { createChatUser } from '../../../support/chat-client.ts'
import { openEntryPoints, type Ask, type BotWithEntryPoints } from '../../../support/entry-points.ts'
import { endedEvents } from '../../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'

let platform: Platform
let own: BotWithEntryPoints
let foreign: BotWithEntryPoints
beforeAll(async () => {
  platform = await openPlatform()
  own = await openEntryPoints(platform)
  foreign = await openEntryPoints(platform)
})
afterAll(() => platform[Symbol.asyncDispose]())

const text = { type: 'text', payload: { text: 'hi' } }

describe.each(['overHttp', 'fromSandbox'] as const)('%s', (entryPoint) => {
  const ask: Ask = (...request) => own.entryPoints[entryPoint](...request)

  test('createMessage says something as the bot, which getMessage and listMessages give back', async () => {
    const { conversationId, botId } = own
    const created = await ask('POST', '/v1/chat/messages', { ...text, conversationId, tags: { mood: 'fine' } })
    expect(created).toMatchObject({
      status: 201,
      body: { message: { ...text, conversationId, userId: botId, direction: 'outgoing', tags: { mood: 'fine' } } },
    })
    const { message } = created.body
    expect(await ask('GET', `/v1/chat/messages/${message.id}`)).toMatchObject({ status: 200, body: { message } })
    const { body } = await ask('GET', `/v1/chat/messages?conversationId=${conversationId}`)
    expect(body.messages[0]).toEqual(message)
    expect(body.meta).toBeTypeOf('object')
  })

  test('createMessage may act as one of the bot’s users, and as no other user', async () => {
    const { conversationId, userId } = own
    expect(await ask('POST', '/v1/chat/messages', { ...text, conversationId, userId })).toMatchObject({
      status: 201,
      body: { message: { userId } },
    })
    expect(await ask('POST', '/v1/chat/messages', { ...text, conversationId, userId: foreign.userId })).toMatchObject({
      status: 400,
      body: { type: 'ReferenceNotFound' },
    })
  })

  test.each([
    ['no type', { payload: { text: 'hi' } }],
    ['a type that clients do not know', { type: 'hologram', payload: {} }],
    ['a payload that does not fit its type', { type: 'image', payload: { text: 'hi' } }],
    ['a bloc of what is no message', { type: 'bloc', payload: { items: [{ type: 'text', payload: {} }] } }],
    ['no payload', { type: 'text' }],
  ])('createMessage is refused with %s', async (_what, message) => {
    const { conversationId } = own
    const answer = await ask('POST', '/v1/chat/messages', { ...message, conversationId })
    expect(answer).toMatchObject({ status: 400, body: { code: 400, type: 'InvalidPayload', id: expect.any(String) } })
  })

  test('nothing of another bot is reached', async () => {
    const { body } = await foreign.entryPoints.overHttp('POST', '/v1/chat/messages', {
      ...text,
      conversationId: foreign.conversationId,
    })
    const notFound = { status: 404, body: { type: 'ResourceNotFound' } }
    expect(await ask('GET', `/v1/chat/messages/${body.message.id}`)).toMatchObject(notFound)
    expect(await ask('GET', `/v1/chat/conversations/${foreign.conversationId}`)).toMatchObject(notFound)
    expect(await ask('GET', `/v1/chat/users/${foreign.userId}`)).toMatchObject(notFound)
    expect(await ask('GET', `/v1/chat/states/bot/${foreign.botId}/x`)).toMatchObject(notFound)
    expect(await ask('POST', `/v1/chat/states/user/${foreign.userId}/x`, { payload: {} })).toMatchObject(notFound)
    expect((await ask('GET', `/v1/chat/messages?conversationId=${foreign.conversationId}`)).body.messages).toEqual([])
    const referred = { status: 400, body: { type: 'ReferenceNotFound' } }
    expect(await ask('POST', '/v1/chat/messages', { ...text, conversationId: foreign.conversationId })).toMatchObject(
      referred,
    )
    const event = { type: 'x', payload: {}, conversationId: foreign.conversationId }
    expect(await ask('POST', '/v1/chat/events', event)).toMatchObject(referred)
  })

  test('createEvent makes an event that the bot handles', async () => {
    const created = await ask('POST', '/v1/chat/events', { type: 'noon', payload: { at: 12 } })
    expect(created).toMatchObject({
      status: 201,
      body: { event: { type: 'noon', payload: { at: 12 }, status: 'pending', failureReason: null } },
    })
    await expect
      .poll(async () => (await platform.context.db('events').where({ id: created.body.event.id }).first())?.status)
      .toBe('ignored')
    expect(await ask('POST', '/v1/chat/events', { type: 'message_created', payload: {} })).toMatchObject({
      status: 400,
    })
  })

  test('getConversation and getUser show internal ids, tags and where it takes place', async () => {
    const { conversationId, userId, botId } = own
    expect((await ask('GET', `/v1/chat/conversations/${conversationId}`)).body.conversation).toMatchObject({
      id: conversationId,
      integration: 'chat',
      channel: 'channel',
      tags: { owner: userId },
    })
    expect((await ask('GET', `/v1/chat/users/${userId}`)).body.user).toMatchObject({ id: userId, tags: {} })
    expect((await ask('GET', `/v1/chat/users/${botId}`)).body.user).toMatchObject({ id: botId })
  })

  test('setState keeps what getState gives, until it is removed or expires', async () => {
    const path = `/v1/chat/states/conversation/${own.conversationId}/${entryPoint}`
    expect(await ask('GET', path)).toMatchObject({ status: 404, body: { type: 'ResourceNotFound' } })
    expect(await ask('POST', path, { payload: { a: [1, null] } })).toMatchObject({
      status: 200,
      body: { state: { payload: { a: [1, null] } } },
    })
    const got = await ask('GET', path)
    expect(got.body).toMatchObject({
      state: { name: entryPoint, type: 'conversation', conversationId: own.conversationId, payload: { a: [1, null] } },
      meta: { cached: false },
    })
    await ask('POST', path, { payload: null })
    expect((await ask('GET', path)).status).toBe(404)
    await ask('POST', path, { payload: { short: 'lived' }, expiry: 1 })
    await expect.poll(async () => (await ask('GET', path)).status).toBe(404)
    expect(await ask('POST', path, { payload: { big: 'x'.repeat(129 * 1024) } })).toMatchObject({
      status: 413,
      body: { type: 'LimitExceeded' },
    })
    expect(await ask('POST', `/v1/chat/states/planet/x/y`, { payload: {} })).toMatchObject({
      status: 400,
      body: { type: 'InvalidPayload' },
    })
  })

  test('callAction calls the bot’s own actions', async () => {
    expect(await ask('POST', '/v1/chat/actions', { type: 'greet', input: { name: 'Ann' } })).toMatchObject({
      status: 200,
      body: { output: { text: 'Hello Ann' }, meta: { cached: false } },
    })
    expect(await ask('POST', '/v1/chat/actions', { type: 'fail', input: {} })).toMatchObject({
      status: 400,
      body: { type: 'Runtime', message: expect.stringContaining('on purpose') },
    })
    expect(await ask('POST', '/v1/chat/actions', { type: 'dance', input: {} })).toMatchObject({
      status: 400,
      body: { type: 'ReferenceNotFound', message: expect.stringContaining('greet') },
    })
  })
})

describe('over HTTP', () => {
  test('a bot’s own token acts as that bot, as no other, and not as an administrator', async () => {
    const secret = 'the-token-of-a-bot'
    const token = { id: newId('pat'), hash: hashToken(secret), kind: 'bot', bot_id: own.botId } as const
    await platform.context.db('tokens').insert(token)
    const authorization = `Bearer ${secret}`
    const as = (botId: string) =>
      platform.ask('GET', '/v1/chat/messages', undefined, { authorization, 'x-bot-id': botId })
    expect(await as(own.botId)).toMatchObject({ status: 200 })
    expect(await as(foreign.botId)).toMatchObject({ status: 403, body: { type: 'Forbidden' } })
    expect(await platform.ask('GET', '/v1/admin/bots', undefined, { authorization })).toMatchObject({ status: 403 })
  })

  test.each([
    ['no token', { authorization: undefined }, 401, 'Unauthorized'],
    ['a wrong token', { authorization: 'Bearer wrong' }, 401, 'Unauthorized'],
    ['no bot', { 'x-bot-id': undefined }, 400, 'InvalidPayload'],
    ['a bot that is none', { 'x-bot-id': 'bot_none' }, 403, 'Forbidden'],
  ])('a runtime request with %s is refused', async (_what, headers, status, type) => {
    const answer = await platform.ask('GET', '/v1/chat/messages', undefined, { 'x-bot-id': own.botId, ...headers })
    expect(answer).toMatchObject({ status, body: { code: status, type } })
  })
})

test('a bot cannot reach operations that are not for bots, by any path', async () => {
  const bot = await platform.createBot(`
    export const hooks = {
      async afterIncomingMessage({ event, client, state }) {
        const tried = []
        for (const path of ['../../admin/bots', '..%2F..%2Fadmin%2Fbots', '../../../admin/bots']) {
          try { await client.getUser({ id: path }); tried.push('reached') } catch (error) { tried.push(error.type) }
        }
        state.bot.tried = tried
      },
    }`)
  const chatUser = await createChatUser(bot.chatUrl)
  await chatUser.send(await chatUser.createConversation(), 'try')
  await endedEvents(platform, bot.id, 1)
  const [state] = await platform.context.db('states').where({ bot_id: bot.id })
  expect(state!.payload['tried']).toEqual(['ResourceNotFound', 'ResourceNotFound', 'ResourceNotFound'])
})

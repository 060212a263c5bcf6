import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sharedEncryptionKey } from '#shared/secrets.ts'
import { createChatter, type Chatter } from '../chatter.ts'
import { openPlatform, send, type DeployedBot, type Platform } from '../platform.ts'

let platform: Platform
let bot: DeployedBot
let alice: Chatter
let bob: Chatter

beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  bot = await platform.createBot()
  alice = await createChatter(bot.chatUrl, { name: 'Alice' })
  bob = await createChatter(bot.chatUrl)
})
afterAll(() => platform[Symbol.asyncDispose]())

const text = { type: 'text', text: 'hi' }

describe('hello', () => {
  test.each(['/hello', '/hello/', '//hello'])('answers at %s', async (path) => {
    expect((await send('GET', `${bot.chatUrl}${path}`)).status).toBe(200)
  })

  test('is not found at an unknown webhook id', async () => {
    const answer = await send('GET', `${platform.url}/chat/nobody/hello`)
    expect(answer).toMatchObject({ status: 404, body: { code: 404, type: 'ResourceNotFound' } })
  })
})

describe('users', () => {
  test('are created with or without an id of the client’s choice', async () => {
    const { status, body } = await send('POST', `${bot.chatUrl}/users`, {
      id: 'carol/1',
      name: 'Carol',
      pictureUrl: 'p',
      profile: '{}',
    })
    expect(status).toBe(201)
    expect(body).toEqual({
      user: {
        id: 'carol/1',
        name: 'Carol',
        pictureUrl: 'p',
        profile: '{}',
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      },
      key: expect.any(String),
    })
    expect(bob.userId).toMatch(/^user_/)
  })

  test('cannot be created twice under one id', async () => {
    await send('POST', `${bot.chatUrl}/users`, { id: 'twice' })
    expect(await send('POST', `${bot.chatUrl}/users`, { id: 'twice' })).toMatchObject({
      status: 409,
      body: { type: 'AlreadyExists' },
    })
  })

  test.each(['', 'a b', 'é', 'a.b', 'x'.repeat(71)])('cannot have the id %j', async (id) => {
    expect(await send('POST', `${bot.chatUrl}/users`, { id })).toMatchObject({
      status: 400,
      body: { type: 'InvalidPayload' },
    })
  })

  test.each([{ name: 1 }, { name: null }, { profile: 'x'.repeat(1001) }, [], 'null'])(
    'are refused with the body %j',
    async (body) => {
      expect(await send('POST', `${bot.chatUrl}/users`, body)).toMatchObject({
        status: 400,
        body: { type: 'InvalidPayload' },
      })
    },
  )

  test('are known by their key', async () => {
    expect((await alice.ask('GET', '/users/me')).body.user).toMatchObject({ id: alice.userId, name: 'Alice' })
  })

  test('are updated by getOrCreateUser, which leaves what is not given', async () => {
    const dave = await createChatter(bot.chatUrl, { id: 'dave', name: 'Dave', profile: 'old' })
    const { status, body } = await dave.ask('POST', '/users/get-or-create', { profile: 'new' })
    expect(status).toBe(201)
    expect(body.user).toMatchObject({ id: 'dave', name: 'Dave', profile: 'new' })
    expect(body).not.toHaveProperty('key')
  })

  test('are created by getOrCreateUser from a key that somebody with the encryption key signed', async () => {
    const key = await signed({ id: 'signed-elsewhere' })
    expect(await send('GET', `${bot.chatUrl}/users/me`, undefined, { 'x-user-key': key })).toMatchObject({
      status: 404,
    })
    const created = await send('POST', `${bot.chatUrl}/users/get-or-create`, {}, { 'x-user-key': key })
    expect(created).toMatchObject({ status: 201, body: { user: { id: 'signed-elsewhere' } } })
    expect(await send('GET', `${bot.chatUrl}/users/me`, undefined, { 'x-user-key': key })).toMatchObject({
      status: 200,
    })
  })
})

describe('user keys', () => {
  test.each([
    ['missing', async () => undefined],
    ['no token', async () => 'nonsense'],
    ['signed with another key', async () => signed({ id: 'x' }, 'another key')],
    ['without an id', async () => signed({})],
    ['with an id that is no string', async () => signed({ id: 7 })],
    ['expired', async () => signed({ id: alice.userId, exp: 1_000_000_000 })],
    ['not valid yet', async () => signed({ id: alice.userId, nbf: 5_000_000_000 })],
    ['unsigned', async () => `${encode({ alg: 'none' })}.${encode({ id: alice.userId })}.`],
    ['of another bot', async () => (await createChatter((await platform.createBot()).chatUrl)).key],
  ])('are refused when %s', async (_what, make) => {
    const answer = await send('GET', `${bot.chatUrl}/users/me`, undefined, { 'x-user-key': await make() })
    expect(answer).toMatchObject({ status: 401, body: { code: 401, type: 'Unauthorized', id: expect.any(String) } })
  })
})

describe('conversations', () => {
  test('are created, and seen by those who take part', async () => {
    const { status, body } = await alice.ask('POST', '/conversations', { id: 'a/b\\c' })
    expect(status).toBe(201)
    expect(Object.keys(body.conversation).toSorted()).toEqual(['createdAt', 'id', 'updatedAt'])
    const found = await alice.ask('GET', `/conversations/${encodeURIComponent('a/b\\c')}`)
    expect(found).toMatchObject({ status: 200, body })
  })

  test('are not seen by others, and not found when there are none', async () => {
    const id = await alice.createConversation()
    expect(await bob.ask('GET', `/conversations/${id}`)).toMatchObject({ status: 403, body: { type: 'Forbidden' } })
    expect(await bob.ask('GET', '/conversations/none')).toMatchObject({
      status: 404,
      body: { type: 'ResourceNotFound' },
    })
  })

  test('are found by our own id as well as by the client’s', async () => {
    const id = await alice.createConversation('by-both')
    const [row] = await platform.context.db('conversations').where({ foreign_id: id }).select('id')
    expect((await alice.ask('GET', `/conversations/${row!.id}`)).body.conversation.id).toBe(row!.id)
  })

  test('are found by a foreign id first, even where it is another one’s own id', async () => {
    const own = await alice.createConversation()
    const { body } = await alice.ask('POST', '/conversations/get-or-create', { id: own })
    expect(body.conversation.id).toBe(own)
    await alice.say(own, 'for the one that was named so')
    const rows = await platform.context
      .db('messages')
      .join('conversations', 'conversations.id', 'conversation_id')
      .where('foreign_id', own)
    expect(rows).toHaveLength(1)
  })

  test('cannot take an id twice', async () => {
    await alice.createConversation('taken')
    expect(await bob.ask('POST', '/conversations', { id: 'taken' })).toMatchObject({
      status: 409,
      body: { type: 'AlreadyExists' },
    })
  })

  test('are got or created by their owner alone', async () => {
    const created = await alice.ask('POST', '/conversations/get-or-create', { id: 'mine' })
    expect(created.status).toBe(201)
    expect(await alice.ask('POST', '/conversations/get-or-create', { id: 'mine' })).toMatchObject({
      status: 201,
      body: created.body,
    })
    expect(await bob.ask('POST', '/conversations/get-or-create', { id: 'mine' })).toMatchObject({ status: 403 })
    expect(await bob.ask('POST', '/conversations/get-or-create', { id: 'not legal' })).toMatchObject({ status: 400 })
    expect(await bob.ask('POST', '/conversations/get-or-create', {})).toMatchObject({ status: 400 })
  })

  test('list their participants, whose bodies are those of users', async () => {
    const id = await alice.createConversation()
    const { status, body } = await alice.ask('GET', `/conversations/${id}/participants`)
    expect(status).toBe(200)
    expect(body).toEqual({ participants: [(await alice.ask('GET', '/users/me')).body.user], meta: {} })
  })

  test('list participants page by page', async () => {
    const id = await alice.createConversation()
    const users = await Promise.all(Array.from({ length: 24 }, () => createChatter(bot.chatUrl)))
    await platform.context
      .db('participants')
      .insert(users.map(({ userId }) => ({ conversation_id: id, user_id: userId, bot_id: bot.id })))
    const first = await alice.ask('GET', `/conversations/${id}/participants`)
    const second = await alice.ask('GET', `/conversations/${id}/participants?nextToken=${first.body.meta.nextToken}`)
    expect(first.body.participants).toHaveLength(20)
    expect(second.body).toMatchObject({ meta: {} })
    const ids = [...first.body.participants, ...second.body.participants].map((user) => user.id)
    expect(new Set(ids)).toEqual(new Set([alice.userId, ...users.map(({ userId }) => userId)]))
  })
})

describe('messages', () => {
  const card = {
    type: 'card',
    title: 't',
    subtitle: 's',
    imageUrl: 'i',
    actions: [{ action: 'say', label: 'l', value: 'v' }],
  }
  const options = [{ label: 'l', value: 'v' }]

  test.each([
    text,
    { type: 'markdown', markdown: '*m*' },
    { type: 'image', imageUrl: 'i' },
    { type: 'audio', audioUrl: 'a' },
    { type: 'video', videoUrl: 'v' },
    { type: 'file', fileUrl: 'f', title: 't' },
    { type: 'location', latitude: 1.5, longitude: -2, address: '', title: '' },
    card,
    { type: 'carousel', items: [card, { ...card, actions: [] }] },
    { type: 'choice', text: 'c', options },
    { type: 'dropdown', text: 'd', options: [] },
    { type: 'bloc', items: [text, { type: 'image', imageUrl: 'i' }, { type: 'file', fileUrl: 'f' }] },
    { type: 'text', text: 'with more', mood: { unknown: ['kept', null] } },
  ])('keep the payload $type as it was sent', async (payload) => {
    const conversationId = await alice.createConversation()
    const created = await alice.ask('POST', '/messages', { conversationId, payload })
    expect(created).toMatchObject({ status: 201, body: { message: { payload, conversationId, userId: alice.userId } } })
    const { message } = created.body
    expect(Object.keys(message).toSorted()).toEqual(['conversationId', 'createdAt', 'id', 'payload', 'userId'])
    expect((await alice.ask('GET', `/messages/${message.id}`)).body.message).toEqual(message)
    expect((await alice.ask('GET', `/conversations/${conversationId}/messages`)).body).toEqual({
      messages: [message],
      meta: {},
    })
  })

  test.each([
    [{}, 'payload'],
    [{ type: 'text' }, 'text'],
    [{ type: 'text', text: '' }, 'payload.text'],
    [{ type: 'text', text: 1 }, 'payload.text'],
    [{ type: 'poem', text: 'x' }, 'none of text'],
    [{ type: 'location', latitude: '1', longitude: 2 }, 'payload.latitude'],
    [{ ...card, subtitle: null }, 'payload.subtitle'],
    [{ type: 'carousel', items: [{ title: 't', actions: [] }] }, 'type'],
    [{ type: 'bloc', items: [card] }, 'payload.items.0'],
    [null, 'payload'],
  ])('refuse the payload %j and say where it is wrong', async (payload, where) => {
    const conversationId = await alice.createConversation()
    const { status, body } = await alice.ask('POST', '/messages', { conversationId, payload })
    expect({ status, type: body.type }).toEqual({ status: 400, type: 'InvalidPayload' })
    expect(body.message).toContain(where)
  })

  test.each(['zero \u0000 character', 'half a pair \uD800'])(
    'refuse text that cannot be stored: %j',
    async (unstorable) => {
      const conversationId = await alice.createConversation()
      expect(await alice.say(conversationId, unstorable)).toMatchObject({
        status: 400,
        body: { type: 'InvalidPayload' },
      })
    },
  )

  test('keep their metadata', async () => {
    const conversationId = await alice.createConversation()
    const metadata = { a: null, b: { c: [1] } }
    const { body } = await alice.ask('POST', '/messages', { conversationId, payload: text, metadata })
    expect(body.message.metadata).toEqual(metadata)
    expect(await alice.ask('POST', '/messages', { conversationId, payload: text, metadata: null })).toMatchObject({
      status: 400,
    })
  })

  test('are only for those who take part, whether there is such a conversation or not', async () => {
    const conversationId = await alice.createConversation()
    const { body } = await alice.say(conversationId, 'secret')
    const refused = { status: 403, body: { type: 'Forbidden' } }
    expect(await bob.say(conversationId, 'me too')).toMatchObject(refused)
    expect(await bob.say('none', 'me too')).toMatchObject(refused)
    expect(await bob.ask('GET', `/conversations/${conversationId}/messages`)).toMatchObject(refused)
    expect(await bob.ask('GET', '/conversations/none/participants')).toMatchObject(refused)
    expect(await bob.ask('GET', '/conversations/none/listen')).toMatchObject(refused)
    expect(await bob.ask('GET', `/messages/${body.message.id}`)).toMatchObject(refused)
    expect(await bob.ask('GET', '/messages/none')).toMatchObject({ status: 404, body: { type: 'ResourceNotFound' } })
  })

  test('are not reached through another bot', async () => {
    const conversationId = await alice.createConversation()
    const { body } = await alice.say(conversationId, 'here')
    const stranger = await createChatter((await platform.createBot()).chatUrl)
    expect(await stranger.ask('GET', `/conversations/${conversationId}`)).toMatchObject({ status: 404 })
    expect(await stranger.say(conversationId, 'there')).toMatchObject({ status: 403 })
    expect(await stranger.ask('GET', `/messages/${body.message.id}`)).toMatchObject({ status: 404 })
  })

  test('are listed newest first, page by page, with times that strictly increase', async () => {
    const conversationId = await alice.createConversation()
    await Promise.all(Array.from({ length: 45 }, (_, index) => alice.say(conversationId, String(index))))
    const heard = await alice.heard(conversationId)
    expect(heard).toHaveLength(45)
    const times = heard.map(({ createdAt }) => Date.parse(createdAt))
    expect(times).toEqual([...new Set(times)].toSorted((a, b) => a - b))
    const { body } = await alice.ask('GET', `/conversations/${conversationId}/messages?nextToken=forged`)
    expect(body).toMatchObject({ code: 400, type: 'InvalidQuery' })
  })

  test('have the ids by which the client knows the user and the conversation', async () => {
    const erin = await createChatter(bot.chatUrl, { id: 'erin' })
    await erin.createConversation('erins')
    const { body } = await erin.say('erins', 'hi')
    expect(body.message).toMatchObject({ userId: 'erin', conversationId: 'erins' })
    expect((await erin.ask('GET', `/messages/${body.message.id}`)).body).toEqual(body)
  })
})

describe('custom events', () => {
  test('are created, and given back as they were', async () => {
    const conversationId = await alice.createConversation()
    const created = await alice.ask('POST', '/events', { conversationId, payload: { any: ['thing'] } })
    expect(created).toMatchObject({
      status: 201,
      body: { event: { payload: { any: ['thing'] }, conversationId, userId: alice.userId } },
    })
    expect((await alice.ask('GET', `/events/${created.body.event.id}`)).body).toEqual(created.body)
    expect(await bob.ask('GET', `/events/${created.body.event.id}`)).toMatchObject({ status: 403 })
    expect(await bob.ask('POST', '/events', { conversationId, payload: {} })).toMatchObject({ status: 403 })
    expect(await alice.ask('POST', '/events', { conversationId, payload: 'text' })).toMatchObject({ status: 400 })
  })

  test('do not show the events that messages make', async () => {
    const conversationId = await alice.createConversation()
    const { body } = await alice.say(conversationId, 'hi')
    const [row] = await platform.context.db('events').where({ message_id: body.message.id }).select('id')
    expect(await alice.ask('GET', `/events/${row!.id}`)).toMatchObject({ status: 404 })
  })
})

describe('every refusal', () => {
  test.each([
    ['GET', '/nothing/here', 404, 'ResourceNotFound'],
    ['DELETE', '/users', 405, 'MethodNotFound'],
    ['GET', '/conversations/%E0%A4%A', 400, 'InvalidPayload'],
  ])('%s %s is an error object', async (method, path, code, type) => {
    const { status, body } = await alice.ask(method, path)
    expect(status).toBe(code)
    expect(body).toEqual({
      id: expect.stringMatching(/^err_\d{14}x[0-9A-F]{8}$/),
      code,
      type,
      message: expect.any(String),
    })
  })

  test.each(['{bad', '"text"', '[]', ''])('the body %j is not taken for an object', async (body) => {
    expect(await alice.ask('POST', '/messages', body)).toMatchObject({ status: 400, body: { type: 'InvalidPayload' } })
  })
})

function signed(payload: Record<string, unknown>, key?: string): Promise<string> {
  return platform.context
    .db('installations')
    .where({ bot_id: bot.id })
    .first('id')
    .then((row) =>
      new SignJWT(payload)
        .setProtectedHeader({ alg: 'HS256' })
        .sign(new TextEncoder().encode(key ?? sharedEncryptionKey(platform.context.config.secret, row!.id))),
    )
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createChatUser } from '../../../../support/chat-client.ts'
import { openPlatform, type Platform } from '../../../../support/platform.ts'
import { ownId, openFixture, signKey, type Fixture } from './fixture.ts'
import { call, comparable, refusal, type OperationName } from './wire.ts'

let platform: Platform
let fixture: Fixture
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
})
afterAll(() => platform[Symbol.asyncDispose]())
beforeEach(async () => {
  fixture = await openFixture(platform)
})

const creators = [
  ['createUser', 'nobody', 'user'],
  ['createConversation', 'owner', 'conversation'],
  ['getOrCreateConversation', 'owner', 'conversation'],
] as const
const awkward = 'a/b\\c'

describe.each(creators)('the id given to %s as %s', (operation, person, kind) => {
  test.each(['a', 'Z', '0', '_', '-', '/', '\\', awkward, 'x'.repeat(70)])('may be %j', async (id) => {
    const { status, body } = await fixture.ask(person, operation, { id })
    expect({ status, id: body[kind]?.id }).toEqual({ status: 201, id })
  })

  test.each(['', ' ', 'a b', 'a+b', 'a.b', 'a@b', 'a:b', 'a%2Fb', 'é', '😀', 'a\n', 'x'.repeat(71)])(
    'may not be %j',
    async (id) => {
      expect(comparable(await fixture.ask(person, operation, { id }))).toEqual(refusal(400, 'InvalidPayload'))
    },
  )
})

describe('an id with slashes', () => {
  beforeEach(async () => {
    await fixture.ask('nobody', 'createUser', { id: awkward })
    await fixture.owner.createConversation(awkward)
    await fixture.ask('owner', 'addParticipant', { conversationId: awkward, userId: awkward })
  })

  test.each<OperationName>([
    'getConversation',
    'listMessages',
    'listParticipants',
    'getParticipant',
    'removeParticipant',
    'deleteConversation',
  ])('is percent-encoded in the path of %s', async (operation) => {
    const answer = await fixture.ask('owner', operation, { id: awkward, conversationId: awkward, userId: awkward })
    expect(answer.status).toBe(200)
  })

  test.each(['a/b', 'a%2Fb'])('is in the path of listenConversation encoded or not: %s', async (path) => {
    await fixture.owner.createConversation('a/b')
    const abort = new AbortController()
    const response = await fetch(`${fixture.bot.chatUrl}/conversations/${path}/listen`, {
      headers: { 'x-user-key': fixture.owner.key },
      signal: abort.signal,
    })
    abort.abort()
    expect(response.status).toBe(200)
  })
})

describe('without an id of the client’s', () => {
  test('ours is answered, and is in the key', async () => {
    const { userId, key } = await createChatUser(fixture.bot.chatUrl)
    const payload = JSON.parse(Buffer.from(key.split('.')[1]!, 'base64url').toString()) as unknown
    expect(payload).toMatchObject({ id: userId })
    expect(userId).toMatch(/^user_\w{26}$/)
    expect(await fixture.owner.createConversation()).toMatch(/^conv_\w{26}$/)
  })
})

describe('our own ids are taken wherever foreign ids are', () => {
  let guest: string
  beforeEach(async () => {
    guest = await ownId(platform, 'users', fixture.bot, 'guest')
  })

  test('and what asks by them is answered with them', async () => {
    const { talk } = fixture
    const key = await signKey(platform, fixture.bot, { id: guest })
    const payload = { type: 'text', text: 'hi' }
    const asGuest = async (operation: OperationName, given: object = {}) =>
      (await call(fixture.bot.chatUrl, operation, key, { ...given })).body
    const written = { message: { conversationId: talk, userId: guest } }
    expect(await asGuest('getUser')).toMatchObject({ user: { id: guest } })
    expect(await asGuest('updateUser')).toMatchObject({ user: { id: guest } })
    expect(await asGuest('getOrCreateUser')).toMatchObject({ user: { id: guest } })
    expect(await asGuest('getConversation', { id: talk })).toMatchObject({ conversation: { id: talk } })
    expect(await asGuest('createMessage', { conversationId: talk, payload })).toMatchObject(written)
    expect(await asGuest('createEvent', { conversationId: talk, payload })).toMatchObject({ event: written.message })
  })

  test('and lists name others by their foreign ids', async () => {
    const { talk, message } = fixture
    const { messages } = (await fixture.ask('owner', 'listMessages', { conversationId: talk })).body
    expect(messages.at(-1)).toMatchObject({ id: message, conversationId: talk, userId: 'guest' })
    const { participants } = (await fixture.ask('owner', 'listParticipants', { conversationId: talk })).body
    expect(participants.map(({ id }: { id: string }) => id).toSorted()).toEqual(['guest', 'owner'])
    const ownerKey = await signKey(platform, fixture.bot, { id: await ownId(platform, 'users', fixture.bot, 'owner') })
    const { conversations } = (await call(fixture.bot.chatUrl, 'listConversations', ownerKey, {})).body
    expect(conversations.map(({ id }: { id: string }) => id)).toEqual(['talk'])
  })

  test.each(['getParticipant', 'addParticipant', 'removeParticipant'] as const)('by %s', async (operation) => {
    const given = { conversationId: fixture.talk, userId: guest }
    const { status, body } = await fixture.ask('owner', operation, given)
    expect({ status, body }).toMatchObject({
      status: 200,
      body: operation === 'removeParticipant' ? {} : { participant: { id: guest } },
    })
  })

  test('and by getOrCreateConversation, which returns the existing one to the owner and nothing new to others', async () => {
    const { talk } = fixture
    const got = await fixture.ask('owner', 'getOrCreateConversation', { id: talk })
    expect(got).toMatchObject({ status: 201, body: { conversation: { id: talk } } })
    expect(comparable(await fixture.ask('stranger', 'getOrCreateConversation', { id: talk }))).toEqual(
      refusal(403, 'Forbidden'),
    )
    expect(await ownId(platform, 'conversations', fixture.bot, 'talk')).toBe(talk)
    expect((await fixture.ask('owner', 'listConversations')).body.conversations).toHaveLength(1)
  })
})

test.each([
  ['getMessage', 'message', () => fixture.message],
  ['getEvent', 'event', () => fixture.event],
] as const)('%s says who wrote it, and not who asks', async (operation, kind, id) => {
  const { body } = await fixture.ask('owner', operation, { id: id() })
  expect(body[kind]).toMatchObject({ userId: 'guest', conversationId: 'talk' })
})

test('messages of the bot belong to the bot', async () => {
  const { body } = await fixture.ask('owner', 'getMessage', { id: fixture.botMessage })
  expect(body.message.userId).toBe(fixture.bot.id)
})

async function asBot(path: string) {
  return (await platform.ask('GET', `/v1/chat/${path}`, undefined, { 'x-bot-id': fixture.bot.id })).body
}

describe('a bot', () => {
  test('sees our own ids alone, and foreign ones in tags', async () => {
    const [owner, guest] = await Promise.all(
      ['owner', 'guest'].map((name) => ownId(platform, 'users', fixture.bot, name)),
    )
    expect(await asBot(`messages/${fixture.message}`)).toMatchObject({
      message: { userId: guest, conversationId: fixture.talk, direction: 'incoming' },
    })
    expect(await asBot(`users/${guest}`)).toMatchObject({ user: { id: guest, tags: { fid: 'guest' } } })
    expect(await asBot(`conversations/${fixture.talk}`)).toMatchObject({
      conversation: { id: fixture.talk, channel: 'channel', integration: 'chat', tags: { fid: 'talk', owner } },
    })
  })

  test('finds no such tag on what was got or created', async () => {
    await fixture.ask('owner', 'getOrCreateConversation', { id: 'mine' })
    await fixture.ask('gone', 'getOrCreateUser')
    const [owner, gone] = await Promise.all(
      ['owner', 'gone'].map((name) => ownId(platform, 'users', fixture.bot, name)),
    )
    const mine = await ownId(platform, 'conversations', fixture.bot, 'mine')
    expect((await asBot(`conversations/${mine}`)).conversation.tags).toEqual({ owner })
    expect((await asBot(`users/${gone}`)).user.tags).toEqual({})
  })
})

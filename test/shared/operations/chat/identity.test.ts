import { randomUUID } from 'node:crypto'
import { Client } from '@botpress/chat'
import { decodeJwt } from 'jose'
import { Client as PostgresClient } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { newId } from '#shared/ids.ts'
import { createChatUser, type ChatUser } from '../../../support/chat-client.ts'
import { installCode } from '../../../support/install-code.ts'
import { openPlatform, send, type Platform } from '../../../support/platform.ts'
import { ownId, openFixture, signKey, type Fixture } from './conformance/fixture.ts'
import { call, type OperationName } from './conformance/wire.ts'

let platform: Platform
let fixture: Fixture
/** Somebody without an id of a client's choice. */
let victim: ChatUser
/** A group that the victim owns and `guest` takes part in. */
let group: string
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())
beforeEach(async () => {
  fixture = await openFixture(platform)
  victim = await createChatUser(fixture.bot.chatUrl, { name: 'Victim' })
  group = await victim.createConversation()
  await victim.ask('POST', `/conversations/${group}/participants`, { userId: 'guest' })
})

const db = () => platform.context.db
const payload = { type: 'text', text: 'hi' }
const invalid = { status: 400, body: { type: 'InvalidPayload' } }
const forbidden = { status: 403, body: { type: 'Forbidden' } }
const notFound = { status: 404, body: { type: 'ResourceNotFound', message: expect.stringContaining('not found') } }
const asKey = (key: string, operation: OperationName, given: object = {}) =>
  call(fixture.bot.chatUrl, operation, key, { ...given })
const hour = 3600
const seconds = () => Math.floor(Date.now() / 1000)

/** The user of the victim's key, and the rows of the victim's ids. */
async function standing(): Promise<unknown> {
  const row = await db()('users').where({ id: victim.userId }).first()
  const { user } = (await victim.ask('GET', '/users/me')).body
  const said = await victim.send(group, 'still me')
  const { participants } = (await victim.ask('GET', `/conversations/${group}/participants`)).body
  return {
    row: [row?.foreign_id, row?.name],
    user: [user?.id, user?.name],
    said: said.status,
    members: participants.map(({ id }: { id: string }) => id).toSorted(),
  }
}

const untouched = () => ({
  row: [null, 'Victim'],
  user: [victim.userId, 'Victim'],
  said: 201,
  members: ['guest', victim.userId],
})

describe('an id that the platform has made, or could make', () => {
  const ours = {
    'of a user': () => victim.userId,
    'of a conversation': () => group,
    'of a message': () => fixture.message,
    'of an event': () => fixture.event,
    'of the bot': () => fixture.bot.id,
    'of nobody yet': () => newId('user'),
  }

  describe.each(Object.entries(ours))('%s', (_of, id) => {
    test.each(['createUser', 'createConversation'] as const)('is not taken by %s', async (operation) => {
      const answer = await fixture.ask(operation === 'createUser' ? 'nobody' : 'stranger', operation, { id: id() })
      expect(answer).toMatchObject(invalid)
      expect(answer.body.message).toContain('choose another')
      expect(await standing()).toEqual(untouched())
    })

    test('makes no conversation by getOrCreateConversation', async () => {
      const answer = await fixture.ask('stranger', 'getOrCreateConversation', { id: id() })
      expect(answer).toMatchObject(id() === group ? forbidden : invalid)
      expect(await standing()).toEqual(untouched())
    })

    test.each(['the shared key', 'a key of the site’s own'])(
      'makes no user by getOrCreateUser with %s',
      async (kind) => {
        const encryptionKey = kind === 'the shared key' ? undefined : 'the site’s own'
        if (encryptionKey) {
          const configured = { integrations: { chat: { configuration: { encryptionKey } } } }
          await platform.ask('PUT', `/v1/admin/bots/${fixture.bot.id}`, configured)
        }
        const key = await signKey(platform, fixture.bot, { id: id() }, encryptionKey ? { encryptionKey } : {})
        const before = await db()('users').where({ bot_id: fixture.bot.id })
        // A site may sign for the user who has the id, and for nobody else.
        const holder = { status: 201, body: { user: { id: victim.userId } } }
        const answer = await asKey(key, 'getOrCreateUser', {})
        expect(answer).toMatchObject(id() === victim.userId ? holder : invalid)
        expect(await db()('users').where({ bot_id: fixture.bot.id })).toHaveLength(before.length)
      },
    )
  })

  test.each([
    ['in lower case', () => newId('user').toLowerCase()],
    ['with one character more', () => `${newId('user')}0`],
    ['with another prefix', () => newId('user').replace('user', 'customer')],
  ])('is no concern of ids that only resemble it: %s', async (_how, make) => {
    const id = make()
    expect((await createChatUser(fixture.bot.chatUrl, { id })).userId).toBe(id)
    expect(await fixture.owner.createConversation(id)).toBe(id)
  })

  test.each([
    ['createMessage', 'message', 'msg'],
    ['createEvent', 'event', 'evt'],
  ] as const)('is not taken for a new one by %s', async (operation, kind, prefix) => {
    const { body } = await fixture.ask('guest', operation, { id: fixture[kind], conversationId: 'talk', payload })
    expect(body[kind].id).toMatch(new RegExp(`^${prefix}_`))
    expect(body[kind].id).not.toBe(fixture[kind])
  })
})

/** Requests of bots and integrations that create something, with ids of another tenant in each field that could be taken for one. */
function creations(): [operation: string, path: string, input: object][] {
  const { userId } = victim
  const ids = { id: userId, foreignId: userId, externalId: userId, fid: userId }
  const user = { ...ids, tags: { id: userId, fid: userId }, discriminateByTags: ['fid'] }
  const conversation = {
    ...ids,
    id: group,
    foreignId: group,
    channel: 'channel',
    tags: { id: group, fid: group, owner: userId },
    discriminateByTags: ['fid'],
  }
  const message = { ...ids, id: fixture.message, type: 'text', payload: { text: 'hi' }, tags: { id: fixture.message } }
  return [
    ['createUser', '/v1/chat/users', user],
    ['getOrCreateUser', '/v1/chat/users/get-or-create', user],
    ['createConversation', '/v1/chat/conversations', conversation],
    ['getOrCreateConversation', '/v1/chat/conversations/get-or-create', conversation],
    ['createEvent', '/v1/chat/events', { ...ids, id: fixture.event, type: 'x', payload: {} }],
    ['createWorkflow', '/v1/chat/workflows', { ...ids, name: 'w', status: 'pending' }],
    ['initializeIncomingMessage', '/v1/chat/initialize-incoming-message', { user, conversation, message }],
  ]
}

/** The ids of all that an answer holds. */
const idsIn = (body: object) => Object.values(body as Record<string, { id?: string } | undefined>).map((one) => one?.id)
const isAnothers = (id?: string) => [victim.userId, group, fixture.message, fixture.event].includes(id ?? '')

describe('through the runtime API, ids of others are not taken over', () => {
  test.each(['the bot', 'an integration'])('as %s', async (who) => {
    const { integrationId } = await installCode(platform, fixture.bot.id, 'export function register() {}')
    const headers = { 'x-bot-id': fixture.bot.id, ...(who !== 'the bot' && { 'x-integration-id': integrationId }) }
    for (const [, path, input] of creations()) {
      const { status, body } = await platform.ask('POST', path, input, headers)
      expect([200, 201, 403]).toContain(status)
      expect(idsIn(body).filter(isAnothers)).toEqual([])
    }
    expect(await standing()).toEqual(untouched())
  })
})

test('through a webhook, ids of others are not taken over', async () => {
  const list = JSON.stringify(creations().map(([operation, , input]) => [operation, input]))
  const code = `
    export async function handler({ client }) {
      const results = []
      for (const [operation, input] of ${list}) {
        try { results.push([operation, await client[operation](input)]) } catch (error) { results.push([operation, { code: error.code }]) }
      }
      return { body: JSON.stringify(results) }
    }`
  const { webhookUrl } = await installCode(platform, fixture.bot.id, code)
  const response = await fetch(webhookUrl, { method: 'POST', body: '{}' })
  const results = (await response.json()) as [string, Record<string, { id?: string }>][]
  expect(results).toHaveLength(creations().length)
  expect(results.filter(([, { code }]) => code !== undefined)).toEqual([['createWorkflow', { code: 403 }]])
  expect(results.flatMap(([, result]) => idsIn(result)).filter(isAnothers)).toEqual([])
  expect(await standing()).toEqual(untouched())
})

describe('a chosen id that is used again after its user was deleted', () => {
  let former: ChatUser
  let next: ChatUser
  beforeEach(async () => {
    former = await createChatUser(fixture.bot.chatUrl, { id: 'bob' })
    await fixture.owner.ask('POST', '/conversations/talk/participants', { userId: 'bob' })
    await former.ask('DELETE', '/users/me', {})
    next = await createChatUser(fixture.bot.chatUrl, { id: 'bob', name: 'Next' })
    await next.createConversation('of-the-next')
  })

  test('is another user: the old key opens nothing of it', async () => {
    const attempts: [OperationName, object][] = [
      ['getUser', {}],
      ['getOrCreateUser', { name: 'Former' }],
      ['updateUser', { name: 'Former' }],
      ['deleteUser', {}],
      ['createConversation', {}],
      ['getOrCreateConversation', { id: 'of-the-next' }],
      ['listConversations', {}],
      ['deleteConversation', { id: 'of-the-next' }],
      ['getConversation', { id: 'of-the-next' }],
      ['listMessages', { conversationId: 'of-the-next' }],
      ['listParticipants', { conversationId: 'of-the-next' }],
      ['createMessage', { conversationId: 'of-the-next', payload }],
      ['createEvent', { conversationId: 'of-the-next', payload }],
      ['listenConversation', { id: 'of-the-next' }],
    ]
    for (const [operation, given] of attempts) {
      expect({ operation, ...(await asKey(former.key, operation, given)) }).toMatchObject({ operation, ...notFound })
    }
    expect((await next.ask('GET', '/users/me')).body.user).toMatchObject({ id: 'bob', name: 'Next' })
    expect((await next.ask('GET', '/conversations')).body.conversations).toMatchObject([{ id: 'of-the-next' }])
  })

  test('has nothing of the former user’s', async () => {
    expect((await next.send('talk', 'may I?')).status).toBe(403)
    const { participants } = (await fixture.ask('owner', 'listParticipants', { conversationId: 'talk' })).body
    expect(participants.map(({ id }: { id: string }) => id).toSorted()).toEqual(['guest', 'owner'])
  })

  test('is the old key’s again when the next user is gone as well, and then not that one’s', async () => {
    await next.ask('DELETE', '/users/me', {})
    const client = await Client.connect({ apiUrl: fixture.bot.chatUrl, userKey: former.key })
    expect(client.user.id).toBe('bob')
    expect((await former.ask('GET', '/users/me')).status).toBe(200)
    expect(await next.ask('GET', '/users/me')).toMatchObject(notFound)
    expect(await asKey(next.key, 'getOrCreateUser', {})).toMatchObject(notFound)
  })

  test('does not answer the former user’s requests once more, nor the next one’s with theirs', async () => {
    const [one, other] = [randomUUID(), randomUUID()]
    const create = (key: string, idempotencyKey: string) =>
      send('POST', `${fixture.bot.chatUrl}/conversations`, {}, { 'x-user-key': key, 'idempotency-key': idempotencyKey })
    const first = await create(next.key, one)
    await create(next.key, other)
    await next.ask('DELETE', '/users/me', {})
    const { key } = await createChatUser(fixture.bot.chatUrl, { id: 'bob' })
    const second = await create(key, one)
    expect(second.status).toBe(201)
    expect(second.body.conversation.id).not.toBe(first.body.conversation.id)
    expect(await create(former.key, other)).toMatchObject(notFound)
  })
})

describe('a removed member', () => {
  beforeEach(async () => {
    await victim.ask('POST', `/conversations/${group}/participants`, { userId: 'stranger' })
    await victim.ask('DELETE', `/conversations/${group}/participants/stranger`, {})
  })

  test('cannot rebuild the conversation under its id, neither while it is there nor later', async () => {
    expect(await fixture.ask('stranger', 'createConversation', { id: group })).toMatchObject(invalid)
    expect(await fixture.ask('stranger', 'getOrCreateConversation', { id: group })).toMatchObject(forbidden)
    expect(await standing()).toEqual(untouched())
    await victim.ask('DELETE', `/conversations/${group}`, {})
    expect(await fixture.ask('stranger', 'createConversation', { id: group })).toMatchObject(invalid)
    expect(await fixture.ask('stranger', 'getOrCreateConversation', { id: group })).toMatchObject(invalid)
    expect(await db()('conversations').where({ foreign_id: group })).toEqual([])
  })

  test('a user who takes a free id again has an empty conversation without other participants', async () => {
    await fixture.ask('owner', 'deleteConversation', { id: 'talk' })
    await fixture.stranger.createConversation('talk')
    for (const person of ['owner', 'guest'] as const) {
      expect(await fixture.ask(person, 'createMessage', { conversationId: 'talk', payload })).toMatchObject(forbidden)
    }
    expect(await fixture.stranger.messages('talk')).toEqual([])
  })
})

/** Signs a key as the site does that was given the shared key. */
const sign = (id: string, claims: object) => signKey(platform, fixture.bot, { id, ...claims })

describe('a key that names its user', () => {
  test('cannot be made to name another, not even with the shared key', async () => {
    const { isobot_user: binding } = decodeJwt<{ isobot_user: string }>(fixture.guest.key)
    const [, proof] = binding.split('.')
    for (const claim of [victim.userId, `${victim.userId}.`, `${victim.userId}.${proof}`, `.${proof}`, 7, {}, null]) {
      const { status } = await asKey(await sign(victim.userId, { isobot_user: claim }), 'getUser')
      expect({ claim, status }).toEqual({ claim, status: 401 })
    }
    // The user is another's, whatever the id says.
    expect(await asKey(await sign(victim.userId, { isobot_user: binding }), 'getUser')).toMatchObject(notFound)
  })

  test('is good for the bot’s own chat alone', async () => {
    const elsewhere = await platform.createBot()
    const { isobot_user: binding } = decodeJwt(victim.key)
    const key = await signKey(platform, elsewhere, { id: victim.userId, isobot_user: binding })
    expect((await call(elsewhere.chatUrl, 'getUser', key, {})).status).toBe(401)
  })
})

/** Makes a user as old as one of before the upgrade is, which was an hour ago. */
async function age(id: string, keysSince: 'upgrade' | 'creation' | 'ever') {
  const [created, upgrade] = [2, 1].map((hours) => new Date((seconds() - hours * hour) * 1000)) as [Date, Date]
  const keys_since = { upgrade, creation: created, ever: null }[keysSince]
  await db()('users').where({ id }).update({ created_at: created, keys_since })
}

describe('keys that name no user', () => {
  test.each([
    ['made with the user', () => ({ iat: seconds() - 2 * hour }), 200],
    ['made later and before the upgrade, as for a shadow of that id', () => ({ iat: seconds() - 1.5 * hour }), 404],
    ['made before the user', () => ({ iat: seconds() - 3 * hour }), 404],
    ['signed by the site since', () => ({ iat: seconds() }), 200],
    ['signed by the site without a time', () => ({}), 200],
    ['signed by the site with a time of another era', () => ({ iat: 1e300 }), 200],
  ] as const)('are good for our own id as before, if %s', async (_when, claims, status) => {
    await age(victim.userId, 'upgrade')
    const answer = await asKey(await sign(victim.userId, claims()), 'getUser')
    const user = { id: victim.userId, name: 'Victim' }
    expect(answer).toMatchObject(status === 200 ? { status, body: { user } } : notFound)
  })

  test.each([
    ['made with the user', () => ({ iat: seconds() - 2 * hour }), 200],
    ['made for a former user of the id', () => ({ iat: seconds() - 3 * hour }), 404],
    ['signed by the site later', () => ({ iat: seconds() - hour }), 200],
    ['signed by the site without a time', () => ({}), 200],
  ] as const)('are good for a chosen id, if %s', async (_when, claims, status) => {
    await age(await ownId(platform, 'users', fixture.bot, 'guest'), 'creation')
    const key = await sign('guest', claims())
    for (const [operation, given] of [
      ['getUser', {}],
      ['getOrCreateUser', {}],
      ['createMessage', { conversationId: 'talk', payload }],
      ['listMessages', { conversationId: 'talk' }],
    ] as const) {
      const answer = await asKey(key, operation, given)
      expect({ operation, status: answer.status < 300 ? 200 : answer.status }).toEqual({ operation, status })
    }
  })

  test('are good for a user that they have made, whenever the site signed them', async () => {
    const key = await sign('long-expected', { iat: seconds() - 1000 * hour })
    const client = await Client.connect({ apiUrl: fixture.bot.chatUrl, userKey: key })
    await client.createConversation({ id: 'at-last' })
    expect((await asKey(await sign('long-expected', { iat: seconds() - 900 * hour }), 'getUser')).status).toBe(200)
    await age(await ownId(platform, 'users', fixture.bot, 'long-expected'), 'ever')
    expect((await asKey(key, 'listConversations')).body.conversations).toMatchObject([{ id: 'at-last' }])
  })
})

describe('where a client had taken another’s id before that was refused', () => {
  /** Somebody who is known by the victim's id, as it was possible once. */
  let shadow: ChatUser
  beforeEach(async () => {
    shadow = await createChatUser(fixture.bot.chatUrl, { id: 'shadow', name: 'Shadow' })
    await shadow.createConversation('shadow-group')
    await db()('users').where({ bot_id: fixture.bot.id, foreign_id: 'shadow' }).update({ foreign_id: victim.userId })
    await db()('conversations')
      .where({ bot_id: fixture.bot.id, foreign_id: 'shadow-group' })
      .update({ foreign_id: group })
  })

  test('our own ids come first, for keys, in paths and in bodies', async () => {
    expect(await standing()).toEqual(untouched())
    for (const claims of [{}, { iat: seconds() }]) {
      const key = await signKey(platform, fixture.bot, { id: victim.userId, ...claims })
      expect((await asKey(key, 'getUser')).body.user.name).toBe('Victim')
    }
    const asked = { conversationId: group, userId: victim.userId }
    expect((await asKey(victim.key, 'getParticipant', asked)).body.participant.name).toBe('Victim')
    await fixture.ask('owner', 'addParticipant', { conversationId: 'talk', userId: victim.userId })
    expect((await victim.send('talk', 'hello')).status).toBe(201)
    expect((await victim.send(group, 'to the group')).status).toBe(201)
    expect((await fixture.guest.messages(group)).map(({ text }) => text)).toContain('to the group')
    expect((await asKey(victim.key, 'getConversation', { id: group })).status).toBe(200)
    expect((await asKey(victim.key, 'createEvent', { conversationId: group, payload })).status).toBe(201)
    const said = await Promise.all(Array.from({ length: 8 }, () => victim.send(group, 'together')))
    expect(said.map(({ status }) => status)).toEqual(said.map(() => 201))
    expect((await asKey(shadow.key, 'listMessages', { conversationId: group })).status).not.toBe(200)
  })

  test('the shadow’s going leaves the victim’s key as it was', async () => {
    await db()('users').where({ bot_id: fixture.bot.id, foreign_id: victim.userId }).delete()
    expect(await standing()).toEqual(untouched())
  })
})

test('processes of the version before cannot store such an id any more', async () => {
  const { id: installation_id } = (await db()('installations').where({ bot_id: fixture.bot.id }).first('id'))!
  const row = { id: newId('user'), bot_id: fixture.bot.id, installation_id, foreign_id: victim.userId }
  await expect(db()('users').insert(row)).rejects.toThrow('shape of an internal one')
  const conversation = { ...row, id: newId('conv'), foreign_id: group, channel: 'channel' }
  await expect(db()('conversations').insert(conversation)).rejects.toThrow('shape of an internal one')
})

test('a message costs one statement with each kind of key', async () => {
  await using quiet = await openPlatform({ worker: false })
  const bot = await quiet.createBot()
  const chatUser = await createChatUser(bot.chatUrl, { id: 'guest' })
  const conversationId = await chatUser.createConversation()
  const signed = [{}, { iat: seconds() }].map((claims) => signKey(quiet, bot, { id: 'guest', ...claims }))
  for (const key of [chatUser.key, ...(await Promise.all(signed))]) {
    const say = () => send('POST', `${bot.chatUrl}/messages`, { conversationId, payload }, { 'x-user-key': key })
    expect((await say()).status).toBe(201)
    const query = vi.spyOn(PostgresClient.prototype, 'query')
    const { status } = await say()
    const { calls } = query.mock
    query.mockRestore()
    const { id: userId } = (await quiet.context.db('users').where({ foreign_id: 'guest' }).first('id'))!
    const concerned = [bot.id, conversationId, userId, 'guest']
    const statements = calls
      .map(([statement]) => JSON.stringify(statement))
      .filter((text) => concerned.some((id) => text.includes(id)))
    expect(status).toBe(201)
    expect(statements).toEqual([expect.stringContaining('insert into messages')])
  }
})

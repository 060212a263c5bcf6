import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openPlatform, type Platform } from '../../../../support/platform.ts'
import { openFixture, type Person, type Fixture } from './fixture.ts'
import { comparable, routes, time, type Arguments, type OperationName } from './wire.ts'

let platform: Platform
let fixture: Fixture
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
})
afterAll(() => platform[Symbol.asyncDispose]())
beforeEach(async () => {
  fixture = await openFixture(platform)
})

const person = (id: unknown, fields = {}) => ({ id, createdAt: time, updatedAt: time, ...fields })
const conversation = (id: unknown) => ({ id, createdAt: time, updatedAt: time })
const said = (fields: object) => ({
  id: expect.stringMatching(/^msg_/),
  createdAt: time,
  conversationId: 'talk',
  ...fields,
})
const happened = (fields: object) => ({
  id: expect.stringMatching(/^evt_/),
  createdAt: time,
  conversationId: 'talk',
  ...fields,
})
const key = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/) as string

const fields = { name: 'Nina', pictureUrl: 'https://picture', profile: 'p'.repeat(1000) }
const hi = { type: 'text', text: 'hi' }
const noon = { at: 'noon' }
const byGuest = { userId: 'guest', payload: { type: 'text', text: 'hello' } }
const inTalk = { conversationId: 'talk' }

type Row = [
  OperationName,
  Person,
  Arguments | ((fixture: Fixture) => Arguments),
  200 | 201,
  object | ((s: Fixture) => object),
]

const rows: Row[] = [
  ['createUser', 'nobody', {}, 201, { user: person(expect.stringMatching(/^user_/)), key }],
  ['createUser', 'nobody', { id: 'new', ...fields }, 201, { user: person('new', fields), key }],
  ['getUser', 'owner', {}, 200, { user: person('owner') }],
  ['getOrCreateUser', 'owner', {}, 201, { user: person('owner') }],
  ['getOrCreateUser', 'gone', fields, 201, { user: person('gone', fields) }],
  ['updateUser', 'owner', fields, 200, { user: person('owner', fields) }],
  ['updateUser', 'owner', {}, 200, { user: person('owner') }],
  ['deleteUser', 'owner', {}, 200, {}],
  ['createConversation', 'owner', {}, 201, { conversation: conversation(expect.stringMatching(/^conv_/)) }],
  ['createConversation', 'owner', { id: 'new' }, 201, { conversation: conversation('new') }],
  ['getConversation', 'owner', { id: 'talk' }, 200, { conversation: conversation('talk') }],
  ['getConversation', 'guest', { id: 'talk' }, 200, { conversation: conversation('talk') }],
  ['getOrCreateConversation', 'owner', { id: 'new' }, 201, { conversation: conversation('new') }],
  ['getOrCreateConversation', 'owner', { id: 'talk' }, 201, { conversation: conversation('talk') }],
  ['deleteConversation', 'owner', { id: 'talk' }, 200, {}],
  ['listConversations', 'owner', {}, 200, { conversations: [conversation('talk')], meta: {} }],
  ['listConversations', 'guest', {}, 200, { conversations: [], meta: {} }],
  [
    'listMessages',
    'guest',
    inTalk,
    200,
    ({ bot, message, botMessage }) => ({
      messages: [
        said({ id: botMessage, userId: bot.id, payload: { type: 'text', text: 'hello yourself' } }),
        said({ id: message, ...byGuest }),
      ],
      meta: {},
    }),
  ],
  ['addParticipant', 'owner', { ...inTalk, userId: 'stranger' }, 200, { participant: person('stranger') }],
  ['addParticipant', 'owner', { ...inTalk, userId: 'guest' }, 200, { participant: person('guest') }],
  ['getParticipant', 'owner', { ...inTalk, userId: 'guest' }, 200, { participant: person('guest') }],
  ['getParticipant', 'owner', { ...inTalk, userId: 'owner' }, 200, { participant: person('owner') }],
  ['removeParticipant', 'owner', { ...inTalk, userId: 'guest' }, 200, {}],
  ['listParticipants', 'guest', inTalk, 200, { participants: [person('guest'), person('owner')], meta: {} }],
  ['createMessage', 'guest', { ...inTalk, payload: hi }, 201, { message: said({ userId: 'guest', payload: hi }) }],
  [
    'createMessage',
    'owner',
    { ...inTalk, payload: hi, metadata: { a: null } },
    201,
    { message: said({ userId: 'owner', payload: hi, metadata: { a: null } }) },
  ],
  ['getMessage', 'owner', ({ message }) => ({ id: message }), 200, { message: said(byGuest) }],
  ['deleteMessage', 'guest', ({ message }) => ({ id: message }), 200, {}],
  ['createEvent', 'owner', { ...inTalk, payload: noon }, 201, { event: happened({ userId: 'owner', payload: noon }) }],
  ['getEvent', 'owner', ({ event }) => ({ id: event }), 200, { event: happened({ userId: 'guest', payload: noon }) }],
]

describe('successful requests are answered with exactly', () => {
  test.each(rows)('%s as %s', async (operation, who, given, status, body) => {
    const answer = await fixture.ask(who, operation, typeof given === 'function' ? given(fixture) : given)
    expect(comparable(answer)).toEqual({ status, body: typeof body === 'function' ? body(fixture) : body })
  })

  test('listenConversation as guest: a stream of events', async () => {
    const abort = new AbortController()
    const response = await fetch(`${fixture.bot.chatUrl}/conversations/talk/listen`, {
      headers: { 'x-user-key': fixture.guest.key },
      signal: abort.signal,
    })
    abort.abort()
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  })

  test('every operation is in the table', () => {
    const listed = new Set<string>([...rows.map(([operation]) => operation), 'listenConversation'])
    expect(listed).toEqual(new Set(Object.keys(routes)))
  })
})

describe('successful requests have their effect', () => {
  test('fields that an update does not give stay as they are', async () => {
    await fixture.ask('owner', 'updateUser', { name: 'Olga', profile: 'old' })
    await fixture.ask('owner', 'updateUser', { profile: 'new' })
    await fixture.ask('owner', 'getOrCreateUser', { pictureUrl: 'https://picture' })
    const { body } = await fixture.ask('owner', 'getUser')
    expect(body.user).toEqual(person('owner', { name: 'Olga', profile: 'new', pictureUrl: 'https://picture' }))
  })

  test('getOrCreateConversation gives the one that there is', async () => {
    const { body } = await fixture.ask('owner', 'getOrCreateConversation', { id: 'talk' })
    expect(body).toEqual((await fixture.ask('owner', 'getConversation', { id: 'talk' })).body)
  })

  test('an added user participates, without owning it, and a removed one does not any more', async () => {
    await fixture.ask('owner', 'addParticipant', { ...inTalk, userId: 'stranger' })
    expect((await fixture.stranger.send('talk', 'here I am')).status).toBe(201)
    expect((await fixture.ask('stranger', 'listConversations')).body.conversations).toEqual([])
    await fixture.ask('owner', 'removeParticipant', { ...inTalk, userId: 'stranger' })
    expect((await fixture.stranger.send('talk', 'am I still here?')).status).toBe(403)
  })

  test.each(['createMessage', 'createEvent'] as const)('%s is read back as it was answered', async (operation) => {
    const created = await fixture.ask('guest', operation, { ...inTalk, payload: hi })
    const [[kind, { id }]] = Object.entries(created.body) as [[string, { id: string }]]
    const got = await fixture.ask('owner', kind === 'message' ? 'getMessage' : 'getEvent', { id })
    expect(got.body).toEqual(created.body)
  })

  test('the events that messages make cannot be read', async () => {
    const row = await platform.context.db('events').where({ message_id: fixture.message }).first('id')
    expect((await fixture.ask('guest', 'getEvent', { id: row!.id })).status).toBe(404)
  })
})

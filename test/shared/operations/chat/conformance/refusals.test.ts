import {
  AlreadyExistsError,
  Client,
  ForbiddenError,
  InvalidPayloadError,
  isApiError,
  ResourceNotFoundError,
  UnauthorizedError,
} from '@botpress/chat'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlatform, type Platform } from '../../../../support/platform.ts'
import { openFixture, signKey, type Person, type Fixture } from './fixture.ts'
import { callWithClient, call, comparable, refusal, routes, type Arguments, type OperationName } from './wire.ts'

let platform: Platform
let fixture: Fixture
let client: Client
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  fixture = await openFixture(platform)
  client = new Client({ apiUrl: fixture.bot.chatUrl })
})
afterAll(() => platform[Symbol.asyncDispose]())

const classes = {
  AlreadyExists: AlreadyExistsError,
  Forbidden: ForbiddenError,
  InvalidPayload: InvalidPayloadError,
  ResourceNotFound: ResourceNotFoundError,
  Unauthorized: UnauthorizedError,
}
const statuses = { AlreadyExists: 409, Forbidden: 403, InvalidPayload: 400, ResourceNotFound: 404, Unauthorized: 401 }
type Refusal = keyof typeof classes

/** The outcome of a call over plain HTTP and with the published client. A refusal changes nothing, so both can be tried. */
async function attempt(operation: OperationName, key: string | undefined, given: Arguments) {
  const overHttp = comparable(await call(fixture.bot.chatUrl, operation, key, given))
  const thrown: unknown = await callWithClient(client, operation, key, given).catch((error: unknown) => error)
  return { overHttp, thrown, isApiError: isApiError(thrown) }
}

function refused(type: Refusal) {
  return { overHttp: refusal(statuses[type], type), thrown: expect.any(classes[type]) as unknown, isApiError: true }
}

const none = { conversationId: 'none' }
const inTalk = { conversationId: 'talk' }
const illegal = { id: 'not legal' }
const payload = { type: 'text', text: 'hi' }
const message = (fixture: Fixture) => ({ id: fixture.message })

test.each<[OperationName, Person, Arguments | ((fixture: Fixture) => Arguments), Refusal]>([
  ['createUser', 'nobody', illegal, 'InvalidPayload'],
  ['createUser', 'nobody', { id: 'owner' }, 'AlreadyExists'],
  ['getUser', 'gone', {}, 'ResourceNotFound'],
  ['updateUser', 'gone', { name: 'Ghost' }, 'ResourceNotFound'],
  ['deleteUser', 'gone', {}, 'ResourceNotFound'],
  ['createConversation', 'gone', {}, 'ResourceNotFound'],
  ['createConversation', 'owner', illegal, 'InvalidPayload'],
  ['createConversation', 'stranger', { id: 'talk' }, 'AlreadyExists'],
  ['createConversation', 'owner', { id: 'talk' }, 'AlreadyExists'],
  ['getOrCreateConversation', 'guest', { id: 'talk' }, 'Forbidden'],
  ['getOrCreateConversation', 'stranger', { id: 'talk' }, 'Forbidden'],
  ['getOrCreateConversation', 'owner', illegal, 'InvalidPayload'],
  ['getConversation', 'owner', { id: 'none' }, 'ResourceNotFound'],
  ['getConversation', 'stranger', { id: 'talk' }, 'Forbidden'],
  ['getConversation', 'gone', { id: 'talk' }, 'ResourceNotFound'],
  ['deleteConversation', 'gone', { id: 'talk' }, 'ResourceNotFound'],
  ['getOrCreateConversation', 'gone', { id: 'new' }, 'ResourceNotFound'],
  ['deleteConversation', 'owner', { id: 'none' }, 'ResourceNotFound'],
  ['deleteConversation', 'guest', { id: 'talk' }, 'Forbidden'],
  ['deleteConversation', 'stranger', { id: 'talk' }, 'Forbidden'],
  ['listMessages', 'owner', none, 'Forbidden'],
  ['listMessages', 'stranger', inTalk, 'Forbidden'],
  ['listMessages', 'gone', inTalk, 'ResourceNotFound'],
  ['addParticipant', 'owner', { ...none, userId: 'guest' }, 'ResourceNotFound'],
  ['addParticipant', 'guest', { ...inTalk, userId: 'stranger' }, 'Forbidden'],
  ['addParticipant', 'stranger', { ...inTalk, userId: 'stranger' }, 'Forbidden'],
  ['addParticipant', 'owner', { ...inTalk, userId: 'gone' }, 'ResourceNotFound'],
  ['getParticipant', 'owner', { ...none, userId: 'guest' }, 'ResourceNotFound'],
  ['getParticipant', 'guest', { ...inTalk, userId: 'guest' }, 'Forbidden'],
  ['getParticipant', 'owner', { ...inTalk, userId: 'none' }, 'ResourceNotFound'],
  ['getParticipant', 'owner', { ...inTalk, userId: 'stranger' }, 'ResourceNotFound'],
  ['removeParticipant', 'owner', { ...none, userId: 'guest' }, 'ResourceNotFound'],
  ['removeParticipant', 'guest', { ...inTalk, userId: 'guest' }, 'Forbidden'],
  ['removeParticipant', 'owner', { ...inTalk, userId: 'owner' }, 'InvalidPayload'],
  ['removeParticipant', 'owner', { ...inTalk, userId: 'none' }, 'ResourceNotFound'],
  ['removeParticipant', 'owner', { ...inTalk, userId: 'stranger' }, 'ResourceNotFound'],
  ['listParticipants', 'owner', none, 'Forbidden'],
  ['listParticipants', 'stranger', inTalk, 'Forbidden'],
  ['createMessage', 'owner', { ...none, payload }, 'Forbidden'],
  ['createMessage', 'stranger', { ...inTalk, payload }, 'Forbidden'],
  ['createMessage', 'gone', { ...inTalk, payload }, 'ResourceNotFound'],
  ['getMessage', 'owner', { id: 'none' }, 'ResourceNotFound'],
  ['getMessage', 'stranger', message, 'Forbidden'],
  ['getMessage', 'gone', message, 'ResourceNotFound'],
  ['deleteMessage', 'owner', { id: 'none' }, 'ResourceNotFound'],
  ['deleteMessage', 'owner', message, 'Forbidden'],
  ['deleteMessage', 'stranger', message, 'Forbidden'],
  ['deleteMessage', 'gone', message, 'ResourceNotFound'],
  ['deleteMessage', 'owner', ({ botMessage }) => ({ id: botMessage }), 'Forbidden'],
  ['createEvent', 'owner', { ...none, payload }, 'Forbidden'],
  ['createEvent', 'stranger', { ...inTalk, payload }, 'Forbidden'],
  ['createEvent', 'gone', { ...inTalk, payload }, 'ResourceNotFound'],
  ['getEvent', 'owner', { id: 'none' }, 'ResourceNotFound'],
  ['getEvent', 'stranger', ({ event }) => ({ id: event }), 'Forbidden'],
  ['getEvent', 'gone', ({ event }) => ({ id: event }), 'ResourceNotFound'],
])('%s as %s with %j is refused as %s', async (operation, person, given, type) => {
  const resolved = typeof given === 'function' ? given(fixture) : given
  expect(await attempt(operation, fixture.key(person), resolved)).toEqual(refused(type))
})

test('getOrCreateUser with a key whose id is no legal one is refused as InvalidPayload', async () => {
  const key = await signKey(platform, fixture.bot, { id: 'not legal' })
  expect(await attempt('getOrCreateUser', key, {})).toEqual(refused('InvalidPayload'))
})

/** The client’s callers see the status of a refused stream, and no typed error. */
test.each<[Person, string, Refusal]>([
  ['owner', 'none', 'Forbidden'],
  ['stranger', 'talk', 'Forbidden'],
  ['gone', 'talk', 'ResourceNotFound'],
  ['nobody', 'talk', 'Unauthorized'],
])('listenConversation as %s to %s is refused as %s', async (person, id, type) => {
  const key = fixture.key(person)
  const overHttp = comparable(await call(fixture.bot.chatUrl, 'listenConversation', key, { id }))
  expect(overHttp).toEqual(refusal(statuses[type], type))
  const listening = client.listenConversation({ id, 'x-user-key': key ?? '' })
  await expect(listening).rejects.toMatchObject({ type: 'error', status: statuses[type] })
})

/** Arguments that would do with a key. */
const complete = { id: 'talk', conversationId: 'talk', userId: 'guest', payload }
const protectedOperations = (Object.keys(routes) as OperationName[]).filter(
  (name) => name !== 'createUser' && name !== 'listenConversation',
)

describe.each(protectedOperations)('%s', (operation) => {
  test('is refused without a key', async () => {
    expect(await attempt(operation, undefined, complete)).toEqual(refused('Unauthorized'))
  })

  test('is refused with a forged key', async () => {
    const key = await signKey(platform, fixture.bot, { id: 'owner' }, { encryptionKey: 'another secret' })
    expect(await attempt(operation, key, complete)).toEqual(refused('Unauthorized'))
  })

  test('is refused with a key of another bot', async () => {
    const elsewhere = await platform.createBot()
    expect(await attempt(operation, await signKey(platform, elsewhere, { id: 'owner' }), complete)).toEqual(
      refused('Unauthorized'),
    )
  })
})

describe('rows of another bot', () => {
  test.each<[OperationName, Arguments | ((fixture: Fixture) => Arguments), Refusal]>([
    ['getConversation', ({ talk }) => ({ id: talk }), 'ResourceNotFound'],
    ['deleteConversation', ({ talk }) => ({ id: talk }), 'ResourceNotFound'],
    ['listMessages', ({ talk }) => ({ conversationId: talk }), 'Forbidden'],
    ['createMessage', ({ talk }) => ({ conversationId: talk, payload }), 'Forbidden'],
    ['getMessage', message, 'ResourceNotFound'],
    ['deleteMessage', message, 'ResourceNotFound'],
    ['getEvent', ({ event }) => ({ id: event }), 'ResourceNotFound'],
  ])('%s does not see', async (operation, given, type) => {
    const elsewhere = await openFixture(platform)
    const resolved = typeof given === 'function' ? given(elsewhere) : given
    expect(await attempt(operation, fixture.key('owner'), resolved)).toEqual(refused(type))
  })
})

import { Client } from '@botpress/chat'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlatform, send, type Platform } from '../../../../support/platform.ts'
import { openFixture, type Fixture } from './fixture.ts'
import { comparable, refusal, time, type Arguments, type OperationName } from './wire.ts'

let platform: Platform
let fixture: Fixture
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  fixture = await openFixture(platform)
})
afterAll(() => platform[Symbol.asyncDispose]())

const inTalk = { conversationId: 'talk' }
const payload = { type: 'text', text: 'hi' }

describe('hello', () => {
  test.each(['/hello', '/hello/', '//hello'])('answers at %s', async (path) => {
    expect((await send('GET', `${fixture.bot.chatUrl}${path}`)).status).toBe(200)
  })

  test('is a ResourceNotFound for the published client', async () => {
    const apiUrl = `${platform.url}/chat/nobody`
    expect(comparable(await send('GET', `${apiUrl}/hello`))).toEqual(refusal(404, 'ResourceNotFound'))
    await expect(Client.connect({ apiUrl })).rejects.toThrow('Failed to connect to url')
  })
})

describe('a path', () => {
  test.each([
    ['GET', '/nothing/here', 404, 'ResourceNotFound'],
    ['GET', '/users/somebody', 404, 'ResourceNotFound'],
    ['DELETE', '/users', 405, 'MethodNotFound'],
    ['PATCH', '/users/me', 405, 'MethodNotFound'],
    ['PUT', '/messages/some', 405, 'MethodNotFound'],
    ['GET', '/conversations/%E0%A4%A', 400, 'InvalidPayload'],
  ])('%s %s is refused with %i', async (method, path, status, type) => {
    expect(comparable(await fixture.owner.ask(method, path))).toEqual(refusal(status, type))
  })

  test.each(['/conversations/talk/', '//conversations/talk', '/conversations//talk//'])(
    'may have empty segments: %s',
    async (path) => {
      expect((await fixture.owner.ask('GET', path)).body).toMatchObject({ conversation: { id: 'talk' } })
    },
  )

  test('carries no key in its query', async () => {
    const answer = await send('GET', `${fixture.bot.chatUrl}/users/me?x-user-key=${fixture.owner.key}`)
    expect(comparable(answer)).toEqual(refusal(401, 'Unauthorized'))
  })
})

describe('a body', () => {
  test.each(['{bad', '"text"', '[]', 'null', '1', ''])('%j is not taken for an object', async (body) => {
    expect(comparable(await fixture.owner.ask('POST', '/messages', body))).toEqual(refusal(400, 'InvalidPayload'))
  })

  test.each([
    ['POST', '/users/get-or-create'],
    ['PUT', '/users/me'],
    ['POST', '/conversations'],
  ])('is missed by %s %s where there is none', async (method, path) => {
    const refused = refusal(400, 'InvalidPayload')
    expect(comparable(await fixture.owner.ask(method, path, ''))).toEqual(refused)
    expect(comparable(await fixture.owner.ask(method, path))).toEqual(refused)
  })

  test('may have unknown fields, which are not kept', async () => {
    const { status, body } = await fixture.ask('owner', 'createMessage', { ...inTalk, payload, mood: 'sunny' })
    expect({ status, body }).toEqual({
      status: 201,
      body: { message: { id: expect.any(String), createdAt: time, ...inTalk, userId: 'owner', payload } },
    })
  })

  test('need not say that it is JSON', async () => {
    const response = await fetch(`${fixture.bot.chatUrl}/users`, { method: 'POST', body: '{}' })
    expect(response.status).toBe(201)
    await response.body?.cancel()
  })

  const userFields = [
    { name: 1 },
    { name: null },
    { pictureUrl: false },
    { pictureUrl: null },
    { profile: {} },
    { profile: null },
    { profile: 'p'.repeat(1001) },
  ]

  test.each<[OperationName, Arguments]>([
    ...['createUser', 'getOrCreateUser', 'updateUser'].flatMap((operation) =>
      userFields.map((fields): [OperationName, Arguments] => [operation as OperationName, fields]),
    ),
    ['createUser', { id: 7 }],
    ['createUser', { id: null }],
    ['createConversation', { id: 7 }],
    ['createConversation', { id: null }],
    ['getOrCreateConversation', {}],
    ['getOrCreateConversation', { id: null }],
    ['addParticipant', inTalk],
    ['addParticipant', { ...inTalk, userId: null }],
    ['createMessage', { payload }],
    ['createMessage', inTalk],
    ['createMessage', { conversationId: 7, payload }],
    ['createMessage', { ...inTalk, payload, metadata: null }],
    ['createMessage', { ...inTalk, payload, metadata: [] }],
    ['createMessage', { ...inTalk, payload, metadata: 'text' }],
    ['createEvent', { payload }],
    ['createEvent', inTalk],
    ['createEvent', { ...inTalk, payload: null }],
    ['createEvent', { ...inTalk, payload: [] }],
    ['createEvent', { ...inTalk, payload: 'text' }],
  ])('of %s with %j is refused', async (operation, given) => {
    expect(comparable(await fixture.ask('owner', operation, given))).toEqual(refusal(400, 'InvalidPayload'))
  })

  test.each(['zero \u0000 character', 'half a pair \uD800'])('with text that cannot be stored: %j', async (text) => {
    expect(comparable(await fixture.owner.send('talk', text))).toEqual(refusal(400, 'InvalidPayload'))
  })
})

test('every failure has an id of its own', async () => {
  const failures = await Promise.all(Array.from({ length: 5 }, () => fixture.owner.ask('GET', '/nothing')))
  expect(new Set(failures.map(({ body }) => body.id)).size).toBe(5)
})

describe('a page of another origin', () => {
  const origin = 'https://shop.example'

  test('is permitted, with the headers that it wants to send', async () => {
    const response = await fetch(`${fixture.bot.chatUrl}/messages`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-user-key,x-custom',
      },
    })
    expect({ status: response.status, text: await response.text() }).toEqual({ status: 200, text: '' })
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET,POST,PUT,DELETE,OPTIONS',
      'access-control-allow-headers': 'content-type,x-user-key,x-custom',
    })
  })

  test.each([
    ['/hello', 'nobody', 200],
    ['/users/me', 'nobody', 401],
    ['/users/me', 'owner', 200],
    ['/conversations/talk/listen', 'owner', 200],
  ] as const)('may read %s as %s, and no cache gives it to others', async (path, person, status) => {
    const abort = new AbortController()
    const key = fixture.key(person)
    const response = await fetch(`${fixture.bot.chatUrl}${path}`, {
      headers: { origin, ...(key && { 'x-user-key': key }) },
      signal: abort.signal,
    })
    abort.abort()
    expect(response.status).toBe(status)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      vary: 'Origin',
    })
  })
})

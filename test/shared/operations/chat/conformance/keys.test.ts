import { Client } from '@botpress/chat'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlatform, type Platform } from '../../../../support/platform.ts'
import { openFixture, signKey, type Fixture } from './fixture.ts'
import { call, comparable, refusal } from './wire.ts'

let platform: Platform
let fixture: Fixture
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  fixture = await openFixture(platform)
})
afterAll(() => platform[Symbol.asyncDispose]())

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
const signed = (payload: Record<string, unknown>, alg?: string) =>
  signKey(platform, fixture.bot, payload, alg === undefined ? {} : { alg })

describe('a key', () => {
  test('names its user in a JSON Web Token of the published form', () => {
    const [header, payload] = fixture.owner.key
      .split('.')
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as unknown)
    expect(header).toEqual({ alg: 'HS256', typ: 'JWT' })
    expect(payload).toMatchObject({ id: 'owner', iat: expect.any(Number) })
    expect(payload).not.toHaveProperty('exp')
  })

  test.each<[string, () => Promise<string>]>([
    ['empty', async () => ''],
    ['no token', async () => 'nonsense'],
    ['without an id', () => signed({})],
    ['with an id that is no string', () => signed({ id: 7 })],
    ['with an empty id', () => signed({ id: '' })],
    ['expired', () => signed({ id: 'owner', exp: 1_000_000_000 })],
    ['not valid yet', () => signed({ id: 'owner', nbf: 5_000_000_000 })],
    ['signed with another algorithm', () => signed({ id: 'owner' }, 'HS512')],
    ['unsigned', async () => `${encode({ alg: 'none' })}.${encode({ id: 'owner' })}.`],
  ])('is refused when it is %s', async (_what, make) => {
    expect(comparable(await call(fixture.bot.chatUrl, 'getUser', await make(), {}))).toEqual(
      refusal(401, 'Unauthorized'),
    )
  })

  test.each<[string, Record<string, unknown>]>([
    ['bare', {}],
    ['not expired yet', { exp: 5_000_000_000 }],
    ['valid already', { nbf: 1_000_000_000 }],
    ['with claims that nobody asked for', { aud: 'somebody', sub: 'else', role: 'king' }],
  ])('may be signed elsewhere, and be %s', async (_what, claims) => {
    const answer = await call(fixture.bot.chatUrl, 'getUser', await signed({ id: 'owner', ...claims }), {})
    expect(answer).toMatchObject({ status: 200, body: { user: { id: 'owner' } } })
  })
})

describe('connecting with the published client', () => {
  test('without anything makes a user, whose key connects again', async () => {
    const apiUrl = fixture.bot.chatUrl
    const first = await Client.connect({ apiUrl })
    const again = await Client.connect({ apiUrl, userKey: first.user.key })
    expect(again.user).toEqual({ ...first.user, updatedAt: expect.any(String) })
  })

  test('with an id is signing up, which is done once', async () => {
    const apiUrl = fixture.bot.chatUrl
    const { user } = await Client.connect({ apiUrl, userId: 'ann' })
    expect(user.id).toBe('ann')
    await expect(Client.connect({ apiUrl, userId: 'ann' })).rejects.toMatchObject({ type: 'AlreadyExists', code: 409 })
  })

  test('with a key that was signed elsewhere makes the user in it', async () => {
    const key = await signed({ id: 'signed-elsewhere' })
    expect(comparable(await call(fixture.bot.chatUrl, 'getUser', key, {}))).toEqual(refusal(404, 'ResourceNotFound'))
    const client = await Client.connect({ apiUrl: fixture.bot.chatUrl, userKey: key })
    expect(client.user).toMatchObject({ id: 'signed-elsewhere', key })
    expect((await client.getUser({})).user.id).toBe('signed-elsewhere')
  })
})

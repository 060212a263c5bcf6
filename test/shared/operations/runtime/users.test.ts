import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChatUser } from '../../../support/chat-client.ts'
import { openEntryPoints, type Ask, type BotWithEntryPoints } from '../../../support/entry-points.ts'
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

const users = '/v1/chat/users'
const notFound = { status: 404, body: { type: 'ResourceNotFound' } }

const ownersOfStates = () => platform.context.db('states').where({ type: 'user' }).pluck('owner_id')

describe.each(['overHttp', 'fromSandbox'] as const)('%s', (entryPoint) => {
  const ask: Ask = (...request) => own.entryPoints[entryPoint](...request)
  const create = async (fields: object = {}) => (await ask('POST', users, fields)).body.user

  const getOrCreate = async (fields: object) => (await ask('POST', `${users}/get-or-create`, fields)).body

  test('createUser makes a user, whom getUser gives back', async () => {
    const fields = { name: 'Ann', pictureUrl: 'https://pictures/ann', tags: { a: '1' }, properties: { p: '2' } }
    const created = await ask('POST', users, fields)
    expect(created).toMatchObject({ status: 201, body: { user: fields } })
    const { user } = created.body
    expect(await ask('GET', `${users}/${user.id}`)).toMatchObject({ status: 200, body: { user } })
    const speaking = { conversationId: own.conversationId, userId: user.id, type: 'text', payload: { text: 'hi' } }
    expect((await ask('POST', '/v1/chat/messages', speaking)).status).toBe(201)
  })

  test('getOrCreateUser finds who has the tags, and takes over the rest', async () => {
    const id = randomUUID()
    const first = await getOrCreate({ tags: { id }, name: 'Ann' })
    expect(first.meta).toEqual({ created: true })
    expect(await getOrCreate({ tags: { id } })).toEqual({ user: first.user, meta: { created: false } })
    const renamed = { name: 'Anna', tags: { id, town: 'Turin' }, discriminateByTags: ['id'] }
    const { updatedAt: _before, ...unchanged } = first.user
    expect(await getOrCreate(renamed)).toMatchObject({
      user: { ...unchanged, name: 'Anna', tags: { id, town: 'Turin' } },
      meta: { created: false },
    })
    expect((await getOrCreate({ tags: { id } })).meta).toEqual({ created: true })
  })

  test('of several who get or create the same at once, one creates it', async () => {
    const tags = { id: randomUUID() }
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask('POST', `${users}/get-or-create`, { tags })))
    expect(new Set(answers.map(({ body }) => body.user.id)).size).toBe(1)
  })

  test('updateUser merges tags and properties, and removes what is null', async () => {
    const { id } = await create({ name: 'Ann', pictureUrl: 'https://a', tags: { a: '1', b: '2' } })
    const changes = { name: null, profile: 'likes tea', tags: { a: null, c: '3' }, properties: { p: '1' } }
    const { status, body } = await ask('PUT', `${users}/${id}`, changes)
    expect(status).toBe(200)
    expect(body.user).toMatchObject({ pictureUrl: 'https://a', profile: 'likes tea', properties: { p: '1' } })
    expect(body.user.tags).toEqual({ b: '2', c: '3' })
    expect(body.user).not.toHaveProperty('name')
    expect((await ask('GET', `${users}/${id}`)).body).toEqual(body)
  })

  test('listUsers narrows to tags, dates and a conversation, and orders either way round', async () => {
    const run = randomUUID()
    const [one, two] = [await create({ tags: { run } }), await create({ tags: { run, 'a.b:c': 'd' } })]
    const listed = async (query: string) => {
      const { body } = await ask('GET', `${users}?tags.run=${run}&${query}`)
      return body.users.map(({ id }: { id: string }) => id)
    }
    expect(await listed('')).toEqual([two.id, one.id])
    expect(await listed('sortDirection=asc')).toEqual([one.id, two.id])
    expect(await listed('tags.a.b%3Ac=d')).toEqual([two.id])
    const { user: changed } = (await ask('PUT', `${users}/${one.id}`, { tags: { x: 'y' } })).body
    expect(await listed('sortField=updatedAt')).toEqual([one.id, two.id])
    const since = encodeURIComponent(changed.updatedAt)
    expect(await listed(`afterDate=${since}`)).toEqual([])
    expect(await listed(`afterDate=${since}&rangeField=updatedAt`)).toEqual([one.id])
    const { conversation } = (await ask('POST', '/v1/chat/conversations', { channel: 'channel' })).body
    await ask('POST', `/v1/chat/conversations/${conversation.id}/participants`, { userId: two.id })
    expect(await listed(`conversationId=${conversation.id}`)).toEqual([two.id])
  })

  test('deleteUser removes a user and what is kept of it, and leaves what was said', async () => {
    const { id } = await create()
    for (const owner of [id, own.userId]) {
      await ask('POST', `/v1/chat/states/user/${owner}/profile`, { payload: { n: 1 } })
    }
    expect(await ownersOfStates()).toEqual(expect.arrayContaining([id, own.userId]))
    const said = { conversationId: own.conversationId, userId: id, type: 'text', payload: { text: 'hi' } }
    const { message } = (await ask('POST', '/v1/chat/messages', said)).body
    expect(await ask('DELETE', `${users}/${id}`)).toMatchObject({ status: 200, body: {} })
    expect(await ask('GET', `${users}/${id}`)).toMatchObject(notFound)
    expect(await ask('DELETE', `${users}/${id}`)).toMatchObject(notFound)
    expect((await ask('GET', `/v1/chat/messages/${message.id}`)).body.message.userId).toBe(id)
    expect(await ownersOfStates()).toContain(own.userId)
    expect(await ownersOfStates()).not.toContain(id)
  })

  test('the bot is a user too, who cannot be deleted', async () => {
    expect(await ask('DELETE', `${users}/${own.botId}`)).toMatchObject({ status: 403, body: { type: 'Forbidden' } })
    expect((await ask('GET', `${users}/${own.botId}`)).status).toBe(200)
  })

  test.each([
    ['too long a name', { name: 'x'.repeat(201) }],
    ['a tag that is no text', { tags: { a: 1 } }],
    ['tags that are none', { tags: ['a'] }],
  ])('createUser is refused with %s', async (_what, fields) => {
    expect(await ask('POST', users, fields)).toMatchObject({ status: 400, body: { type: 'InvalidPayload' } })
  })

  test('no user of another bot is reached', async () => {
    const path = `${users}/${foreign.userId}`
    expect(await ask('GET', path)).toMatchObject(notFound)
    expect(await ask('PUT', path, { name: 'mine' })).toMatchObject(notFound)
    expect(await ask('DELETE', path)).toMatchObject(notFound)
    const inTheirs = await ask('GET', `${users}?conversationId=${foreign.conversationId}`)
    expect(inTheirs.body.users).toEqual([])
    const tags = { id: randomUUID() }
    const theirs = await foreign.entryPoints.overHttp('POST', users, { tags })
    const got = await ask('POST', `${users}/get-or-create`, { tags })
    expect(got.body.user.id).not.toBe(theirs.body.user.id)
  })
})

test('a user in more conversations than one statement changes in its time is deleted', async () => {
  const { chatUrl } = await platform.createBot('export const hooks = {}')
  const user = await createChatUser(chatUrl)
  const conversationId = await user.createConversation()
  const { db } = platform.context
  for (const part of 'abcdefgh') {
    await db.raw(
      `insert into conversations (id, bot_id, installation_id, channel, owner_id)
       select id || :part || number, bot_id, installation_id, channel, owner_id
       from conversations, generate_series(1, 10000) number where id = :conversationId`,
      { conversationId, part },
    )
    // As the server does soon after so many rows.
    await db.raw('analyze conversations')
    await db.raw(
      `insert into participants (conversation_id, user_id, bot_id) select conversation_id || :part || number, user_id, bot_id
       from participants, generate_series(1, 10000) number where conversation_id = :conversationId`,
      { conversationId, part },
    )
  }
  expect((await user.ask('DELETE', '/users/me')).status).toBe(200)
  // Counted by PostgreSQL: to read 80,000 rows takes half a gigabyte.
  const [counted] = await db('conversations')
    .whereLike('id', `${conversationId}%`)
    .select(db.raw('count(*)::int as all, count(owner_id)::int as owned'))
  expect(counted).toEqual({ all: 80_001, owned: 0 })
  expect(await db('participants').whereLike('conversation_id', `${conversationId}%`)).toEqual([])
}, 120_000)

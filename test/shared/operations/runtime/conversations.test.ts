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

const conversations = '/v1/chat/conversations'
const ids = (body: { conversations: { id: string }[] }) => body.conversations.map(({ id }) => id)
const notFound = { status: 404, body: { type: 'ResourceNotFound' } }

describe.each(['overHttp', 'fromSandbox'] as const)('%s', (entryPoint) => {
  const ask: Ask = (...request) => own.entryPoints[entryPoint](...request)
  const getOrCreate = (fields: object) =>
    ask('POST', `${conversations}/get-or-create`, { channel: 'channel', ...fields })
  const create = async (fields: object = {}) =>
    (await ask('POST', conversations, { channel: 'channel', ...fields })).body.conversation

  test('createConversation makes a conversation of the chat, which getConversation gives back', async () => {
    const created = await ask('POST', conversations, {
      channel: 'channel',
      tags: { topic: 'tea' },
      properties: { mood: 'calm' },
    })
    expect(created).toMatchObject({
      status: 201,
      body: {
        conversation: {
          channel: 'channel',
          integration: 'chat',
          tags: { topic: 'tea' },
          properties: { mood: 'calm' },
          messageCount: 0,
        },
      },
    })
    const { conversation } = created.body
    expect(await ask('GET', `${conversations}/${conversation.id}`)).toMatchObject({
      status: 200,
      body: { conversation },
    })
    await ask('POST', '/v1/chat/messages', {
      conversationId: conversation.id,
      type: 'text',
      payload: { text: 'hi' },
    })
    expect((await ask('GET', `${conversations}/${conversation.id}`)).body.conversation.messageCount).toBe(1)
  })

  test('createConversation is refused on an integration that the bot does not have', async () => {
    expect(await ask('POST', conversations, { channel: 'c', integrationName: 'pigeons' })).toMatchObject({
      status: 400,
      body: { type: 'ReferenceNotFound', message: expect.stringContaining("'chat'") },
    })
  })

  test('getOrCreateConversation finds what has exactly the tags, and takes over the rest', async () => {
    const id = randomUUID()
    const first = await getOrCreate({ tags: { id, part: 'a' } })
    expect(first).toMatchObject({ status: 200, body: { meta: { created: true } } })
    const same = await getOrCreate({ tags: { part: 'a', id } })
    expect(same.body).toEqual({ conversation: first.body.conversation, meta: { created: false } })
    expect((await getOrCreate({ tags: { id } })).body.meta).toEqual({ created: true })
    const discriminated = await getOrCreate({
      tags: { id, part: 'a', more: 'b' },
      properties: { p: '1' },
      discriminateByTags: ['id', 'part'],
    })
    expect(discriminated.body).toMatchObject({
      conversation: { id: first.body.conversation.id, tags: { id, part: 'a', more: 'b' }, properties: { p: '1' } },
      meta: { created: false },
    })
    const removing = await getOrCreate({ tags: { id, part: 'a', more: null }, discriminateByTags: ['id', 'part'] })
    expect(removing.body.conversation.tags).toEqual({ id, part: 'a' })
    expect((await getOrCreate({ channel: 'other', tags: { id, part: 'a' } })).body.meta).toEqual({ created: true })
  })

  test.each(['thread', 'constructor'])('a tag to discriminate by that is not given must be absent: %s', async (key) => {
    const id = randomUUID()
    const discriminateByTags = ['id', key]
    const thread = await getOrCreate({ tags: { id, [key]: '1' }, discriminateByTags })
    const whole = await getOrCreate({ tags: { id }, discriminateByTags })
    expect(whole.body.meta.created).toBe(true)
    expect((await getOrCreate({ tags: { id }, discriminateByTags })).body.conversation.id).toBe(
      whole.body.conversation.id,
    )
    expect((await getOrCreate({ tags: { id, [key]: '1' }, discriminateByTags })).body.conversation.id).toBe(
      thread.body.conversation.id,
    )
  })

  test('of several who get or create the same at once, one creates it', async () => {
    const tags = { id: randomUUID() }
    const answers = await Promise.all(Array.from({ length: 8 }, () => getOrCreate({ tags })))
    expect(new Set(answers.map(({ body }) => body.conversation.id)).size).toBe(1)
    expect(answers.filter(({ body }) => body.meta.created)).toHaveLength(1)
  })

  test('without tags there is nothing to find, so that something new is created', async () => {
    const [one, two] = [await getOrCreate({ tags: {} }), await getOrCreate({ tags: {} })]
    expect(one.body.conversation.id).not.toBe(two.body.conversation.id)
  })

  test('updateConversation merges tags and properties, and removes those that are null or empty', async () => {
    const { id } = await create({ tags: { a: '1', b: '2', c: '3' }, properties: { p: '1', q: '2' } })
    const changes = { tags: { a: '9', b: null, c: '', d: '4' }, properties: { p: null, r: '3' } }
    expect(await ask('PUT', `${conversations}/${id}`, changes)).toMatchObject({
      status: 200,
      body: { conversation: { id, tags: { a: '9', d: '4' }, properties: { q: '2', r: '3' } } },
    })
    expect((await ask('GET', `${conversations}/${id}`)).body.conversation.tags).toEqual({ a: '9', d: '4' })
    const tooLong = { tags: { a: 'x'.repeat(501) } }
    expect(await ask('PUT', `${conversations}/${id}`, tooLong)).toMatchObject({
      status: 400,
      body: { type: 'InvalidPayload' },
    })
  })

  test('listConversations pages through what the filters leave, either way round', async () => {
    const run = randomUUID()
    const made = []
    for (const part of ['one', 'two', 'three']) made.push(await create({ tags: { run, part } }))
    const [one, two, three] = made.map(({ id }) => id)
    const listed = async (query: string) => {
      const { status, body } = await ask('GET', `${conversations}?tags.run=${run}&${query}`)
      expect(status).toBe(200)
      return body
    }

    const first = await listed('pageSize=2')
    expect(ids(first)).toEqual([three, two])
    const rest = await listed(`pageSize=2&nextToken=${first.meta.nextToken}`)
    expect([ids(rest), rest.meta]).toEqual([[one], {}])
    const oldest = await listed('sortDirection=asc&pageSize=2')
    expect(ids(oldest)).toEqual([one, two])
    expect(ids(await listed(`sortDirection=asc&nextToken=${oldest.meta.nextToken}`))).toEqual([three])
    await ask('PUT', `${conversations}/${one}`, { tags: { changed: 'yes' } })
    expect(ids(await listed('sortField=updatedAt'))).toEqual([one, three, two])

    expect(ids(await listed('tags.part=two'))).toEqual([two])
    expect(ids(await listed(`afterDate=${encodeURIComponent(made[1].createdAt)}`))).toEqual([three, two])
    expect(ids(await listed(`beforeDate=${encodeURIComponent(made[1].createdAt)}`))).toEqual([two, one])
    await ask('POST', '/v1/chat/messages', { conversationId: two, type: 'text', payload: { text: 'hi' } })
    expect(ids(await listed('minMessageCount=1'))).toEqual([two])
    expect(ids(await listed('maxMessageCount=0'))).toEqual([three, one])
    await ask('POST', '/v1/chat/messages', { conversationId: two, type: 'text', payload: { text: 'hi again' } })
    expect(ids(await listed('minMessageCount=2&maxMessageCount=2'))).toEqual([two])
    expect(ids(await listed('minMessageCount=3'))).toEqual([])
    expect(ids(await listed('minMessageCount=0&maxMessageCount=1'))).toEqual([three, one])
    const { body } = await ask('POST', '/v1/chat/users', {})
    for (const [id, userId] of [
      [one, own.userId],
      [three, own.userId],
      [three, body.user.id],
    ]) {
      await ask('POST', `${conversations}/${id}/participants`, { userId })
    }
    expect(ids(await listed(`participantIds=${own.userId}`))).toEqual([three, one])
    expect(ids(await listed(`participantIds=${own.userId}&participantIds=${body.user.id}`))).toEqual([three])
    expect(ids(await listed('integrationName=chat&channel=channel'))).toHaveLength(3)
    expect(ids(await listed('integrationName=other'))).toEqual([])
  })

  test.each([
    ['a page token of nobody', 'nextToken=x', 'InvalidQuery'],
    ['a page of no size', 'pageSize=0', 'InvalidPayload'],
    ['a date that is none', 'afterDate=yesterday', 'InvalidPayload'],
    ['an order that is none', 'sortField=name', 'InvalidPayload'],
  ])('listConversations is refused with %s', async (_what, query, type) => {
    expect(await ask('GET', `${conversations}?${query}`)).toMatchObject({ status: 400, body: { type } })
  })

  test('participants come, are shown, and go', async () => {
    const { id } = await create()
    const path = `${conversations}/${id}/participants`
    const { user } = (await ask('POST', '/v1/chat/users', { name: 'Ann' })).body
    expect(await ask('POST', path, { userId: user.id })).toMatchObject({ status: 200, body: { participant: user } })
    expect((await ask('POST', path, { userId: user.id })).status).toBe(200)
    await ask('POST', path, { userId: own.userId })
    expect(await ask('GET', `${path}/${user.id}`)).toMatchObject({ status: 200, body: { participant: user } })
    const { body } = await ask('GET', `${path}?pageSize=1`)
    expect(body.participants).toMatchObject([{ id: own.userId }])
    expect((await ask('GET', `${path}?nextToken=${body.meta.nextToken}`)).body.participants).toEqual([user])
    expect(await ask('DELETE', `${path}/${user.id}`)).toMatchObject({ status: 200, body: {} })
    expect(await ask('GET', `${path}/${user.id}`)).toMatchObject(notFound)
    expect(await ask('DELETE', `${path}/${user.id}`)).toMatchObject(notFound)
    expect(await ask('POST', path, { userId: 'user_none' })).toMatchObject({
      status: 400,
      body: { type: 'ReferenceNotFound' },
    })
    expect(await ask('DELETE', `${conversations}/${own.conversationId}/participants/${own.userId}`)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('owner') },
    })
  })

  test('deleteConversation removes a conversation with its messages and what is kept of it', async () => {
    const { id } = await create()
    const begun = { name: 'order', status: 'listening', conversationId: id }
    const { workflow } = (await ask('POST', '/v1/chat/workflows', begun)).body
    await ask('POST', `/v1/chat/states/conversation/${id}/basket`, { payload: { n: 1 } })
    await ask('POST', `/v1/chat/states/workflow/${workflow.id}/basket`, { payload: { n: 1 } })
    const states = () => platform.context.db('states').whereIn('owner_id', [id, workflow.id])
    expect(await states()).toHaveLength(2)
    const said = { conversationId: id, type: 'text', payload: { text: 'hi' } }
    const { message } = (await ask('POST', '/v1/chat/messages', said)).body
    expect(await ask('DELETE', `${conversations}/${id}`)).toMatchObject({ status: 200, body: {} })
    expect(await ask('GET', `${conversations}/${id}`)).toMatchObject(notFound)
    expect(await ask('GET', `/v1/chat/messages/${message.id}`)).toMatchObject(notFound)
    expect(await ask('DELETE', `${conversations}/${id}`)).toMatchObject(notFound)
    expect(await states()).toEqual([])
  })

  test('nothing of another bot is reached', async () => {
    const path = `${conversations}/${foreign.conversationId}`
    expect(await ask('GET', path)).toMatchObject(notFound)
    expect(await ask('PUT', path, { tags: { mine: 'yes' } })).toMatchObject(notFound)
    expect(await ask('DELETE', path)).toMatchObject(notFound)
    expect(await ask('GET', `${path}/participants`)).toMatchObject(notFound)
    expect(await ask('GET', `${path}/participants/${foreign.userId}`)).toMatchObject(notFound)
    expect(await ask('POST', `${path}/participants`, { userId: own.userId })).toMatchObject(notFound)
    expect(await ask('DELETE', `${path}/participants/${foreign.userId}`)).toMatchObject(notFound)
    const inOwn = `${conversations}/${own.conversationId}/participants`
    expect(await ask('POST', inOwn, { userId: foreign.userId })).toMatchObject({ status: 400 })
    const { body } = await foreign.entryPoints.overHttp('GET', path)
    expect(body.conversation.tags).toEqual({ owner: foreign.userId })
    const listed = await ask('GET', `${conversations}?tags.owner=${foreign.userId}`)
    expect(listed.body.conversations).toEqual([])
  })
})

test('a bot can delete the conversation whose event it handles', async () => {
  const bot = await platform.createBot(`
    export const hooks = {
      async afterIncomingMessage({ event, client }) {
        await client.deleteConversation({ id: event.conversationId })
      },
    }`)
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, 'go')
  const left = () => platform.context.db('conversations').where({ id: conversationId })
  await expect.poll(left, { timeout: 10_000 }).toEqual([])
})

test('a conversation with more rows than one statement deletes in its time is deleted', async () => {
  const { id, chatUrl } = await platform.createBot('export const hooks = {}')
  const user = await createChatUser(chatUrl)
  const conversationId = await user.createConversation()
  const { db } = platform.context
  const rows = `from conversations, generate_series(1, 40000) number where conversations.id = :conversationId`
  for (const part of ['1-', '2-', '3-', '4-', '5-', '6-']) {
    await db.raw(
      `insert into messages (id, bot_id, conversation_id, user_id, type, payload, direction, created_at, updated_at)
       select conversations.id || :part || number, bot_id, conversations.id, owner_id, 'text', '{}', 'incoming', now(), now() ${rows}`,
      { conversationId, part },
    )
    await db.raw(
      `insert into events (id, bot_id, mailbox, conversation_id, type, payload, status)
       select conversations.id || :part || number, bot_id, conversations.id, conversations.id, 'x', '{}', 'processed' ${rows}`,
      { conversationId, part },
    )
  }
  expect((await user.ask('DELETE', `/conversations/${conversationId}`)).status).toBe(200)
  for (const table of ['conversations', 'messages', 'events']) {
    expect(await db(table).where({ bot_id: id }).whereLike('id', `${conversationId}%`)).toEqual([])
  }
}, 120_000)

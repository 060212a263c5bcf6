import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { storeMessage, type ReadyMessage } from '#shared/messaging/create-message.ts'
import type { Database } from '#shared/store/database.ts'
import { endScheduledEvent } from '#shared/store/scheduled-events.ts'
import { createChatUser } from '../../../support/chat-client.ts'
import { openEntryPoints, type Ask, type BotWithEntryPoints } from '../../../support/entry-points.ts'
import { listen } from '../../../support/event-stream.ts'
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

const messages = '/v1/chat/messages'
const notFound = { status: 404, body: { type: 'ResourceNotFound' } }
const text = { type: 'text', payload: { text: 'hi' } }

describe.each(['overHttp', 'fromSandbox'] as const)('%s', (entryPoint) => {
  const ask: Ask = (...request) => own.entryPoints[entryPoint](...request)
  const say = async (fields: object = {}) =>
    (await ask('POST', messages, { ...text, conversationId: own.conversationId, ...fields })).body.message

  const listed = async (query: string) => {
    const { body } = await ask('GET', `${messages}?${query}`)
    return body.messages.map(({ id }: { id: string }) => id)
  }

  test('getOrCreateMessage finds a conversation’s message by its tags, and takes over the rest', async () => {
    const tags = { id: randomUUID() }
    const getOrCreate = (fields: object) =>
      ask('POST', `${messages}/get-or-create`, { type: 'text', conversationId: own.conversationId, tags, ...fields })
    expect(await getOrCreate({})).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('payload') },
    })
    const first = await getOrCreate({ payload: { text: 'one' } })
    expect(first).toMatchObject({
      status: 200,
      body: { message: { payload: { text: 'one' }, tags, direction: 'outgoing' }, meta: { created: true } },
    })
    expect((await getOrCreate({})).body).toEqual({ message: first.body.message, meta: { created: false } })
    const { message } = (await getOrCreate({ payload: { text: 'two' } })).body
    expect(message).toMatchObject({ id: first.body.message.id, payload: { text: 'two' } })
    const elsewhere = (await ask('POST', '/v1/chat/conversations', { channel: 'channel' })).body.conversation
    const other = await getOrCreate({ conversationId: elsewhere.id, payload: { text: 'one' } })
    expect(other.body.meta).toEqual({ created: true })
    const bad = await getOrCreate({ payload: { words: 'two' } })
    expect(bad).toMatchObject({ status: 400, body: { type: 'InvalidPayload' } })
  })

  test('getOrCreateMessage schedules a message once, finds it until its time, and after it', async () => {
    const tags = { id: randomUUID() }
    const getOrCreate = async (fields: object) => {
      const given = { type: 'text', conversationId: own.conversationId, tags, discriminateByTags: ['id'], ...fields }
      return (await ask('POST', `${messages}/get-or-create`, given)).body
    }
    const later = { delay: 3_600_000 }
    const first = await getOrCreate({ payload: { text: 'one' }, schedule: later })
    expect(first).toMatchObject({ message: { payload: { text: 'one' }, tags }, meta: { created: true } })
    expect(Date.parse(first.message.createdAt)).toBeGreaterThan(Date.now() + 3_500_000)
    const { message, meta } = await getOrCreate({
      payload: { text: 'two' },
      tags: { ...tags, more: 'yes' },
      schedule: { delay: 0 },
    })
    expect(meta).toEqual({ created: false })
    expect(message).toEqual({ ...first.message, payload: { text: 'two' }, tags: { ...tags, more: 'yes' } })
    expect(await ask('GET', `${messages}/${message.id}`)).toMatchObject(notFound)
    await platform.context
      .db('events')
      .where({ bot_id: own.botId, status: 'scheduled' })
      .update({ available_at: new Date() })
    const stored = await vi.waitFor(async () => {
      const { body } = await ask('GET', `${messages}/${message.id}`)
      expect(body.message).toMatchObject({ payload: { text: 'two' }, tags: { ...tags, more: 'yes' } })
      return body.message
    }, 20_000)
    expect(await getOrCreate({ schedule: later })).toEqual({ message: stored, meta: { created: false } })
  })

  test('getOrCreateMessage refuses for a scheduled message what chat clients could not show', async () => {
    const given = { type: 'text', conversationId: own.conversationId, tags: { id: randomUUID() } }
    const getOrCreate = (fields: object) =>
      ask('POST', `${messages}/get-or-create`, { ...given, schedule: { delay: 3_600_000 }, ...fields })
    const { body } = await getOrCreate({ payload: { text: 'one' } })
    expect(await getOrCreate({ payload: { words: 'two' } })).toMatchObject({
      status: 400,
      body: { type: 'InvalidPayload' },
    })
    expect((await getOrCreate({})).body.message).toEqual(body.message)
  })

  test('updateMessage merges tags, replaces the payload, and keeps what chat clients can show', async () => {
    const { id } = await say({ tags: { a: '1', b: '2' } })
    const changes = { tags: { a: null, c: '3' }, payload: { text: 'changed', metadata: { seen: true } } }
    const { status, body } = await ask('PUT', `${messages}/${id}`, changes)
    expect(status).toBe(200)
    expect(body.message).toMatchObject({ id, type: 'text', payload: changes.payload })
    expect(body.message.tags).toEqual({ b: '2', c: '3' })
    expect((await ask('GET', `${messages}/${id}`)).body).toEqual(body)
    expect(await ask('PUT', `${messages}/${id}`, { payload: { imageUrl: 'x' } })).toMatchObject({
      status: 400,
      body: { type: 'InvalidPayload' },
    })
    expect(await ask('PUT', `${messages}/msg_none`, changes)).toMatchObject(notFound)
  })

  test('listMessages narrows to a conversation, tags and dates', async () => {
    const run = randomUUID()
    const [one, two] = [await say({ tags: { run } }), await say({ tags: { run, 'x:y': 'z' } })]
    expect(await listed(`tags.run=${run}`)).toEqual([two.id, one.id])
    expect(await listed(`tags.run=${run}&tags.x%3Ay=z`)).toEqual([two.id])
    expect(await listed(`tags.run=${run}&beforeDate=${encodeURIComponent(one.createdAt)}`)).toEqual([one.id])
    expect(await listed(`conversationId=${own.conversationId}&afterDate=${encodeURIComponent(two.createdAt)}`)).toEqual(
      [two.id],
    )
    expect(await listed(`tags.run=${run}&conversationId=conv_none`)).toEqual([])
  })

  test('deleteMessage deletes a message of any user', async () => {
    const { id } = await say({ userId: own.userId })
    expect(await ask('DELETE', `${messages}/${id}`)).toMatchObject({ status: 200, body: {} })
    expect(await ask('GET', `${messages}/${id}`)).toMatchObject(notFound)
    expect(await ask('DELETE', `${messages}/${id}`)).toMatchObject(notFound)
  })

  test('importMessages stores earlier messages, each once by its tags, without an event', async () => {
    const [id, createdAt] = [randomUUID(), '2020-02-29T12:00:00.000Z']
    const { conversationId, userId, botId } = own
    const asked = { ...text, conversationId, userId, createdAt, tags: { id, part: 'question' } }
    const answered = { ...asked, userId: botId, createdAt: '2020-02-29T12:00:01.000Z', tags: { id, part: 'answer' } }
    const events = () => platform.context.db('events').where({ conversation_id: conversationId })
    const before = (await events()).length
    const imported = await ask('POST', `${messages}/import-messages`, { messages: [asked, answered] })
    expect(imported).toMatchObject({
      status: 200,
      body: {
        messages: [
          { ...asked, direction: 'incoming' },
          { ...answered, direction: 'outgoing' },
        ],
      },
    })
    const again = await ask('POST', `${messages}/import-messages`, { messages: [asked] })
    expect(again.body.messages).toEqual([imported.body.messages[0]])
    expect(await events()).toHaveLength(before)
    const untagged = { ...asked, tags: {} }
    const twice = await ask('POST', `${messages}/import-messages`, { messages: [untagged, untagged] })
    expect(new Set(twice.body.messages.map((message: { id: string }) => message.id)).size).toBe(2)
  })

  test('imported messages from before 1970 are listed page by page', async () => {
    const made = await ask('POST', '/v1/chat/conversations', { channel: 'channel', tags: {} })
    const conversationId = made.body.conversation.id
    const times = ['1969-07-20T20:17:40.000Z', '1900-01-01T00:00:00.000Z', '0001-01-01T00:00:00.000Z']
    const given = times.map((createdAt) => ({ ...text, conversationId, userId: own.userId, tags: {}, createdAt }))
    expect(await ask('POST', `${messages}/import-messages`, { messages: given })).toMatchObject({ status: 200 })
    const listed: string[] = []
    for (let nextToken = ''; listed.length < times.length;) {
      const { body } = await ask('GET', `${messages}?conversationId=${conversationId}&pageSize=1${nextToken}`)
      listed.push(body.messages[0].createdAt)
      nextToken = `&nextToken=${body.meta.nextToken}`
    }
    expect(listed).toEqual(times)
  })

  test('importMessages returns the messages that it could not import, and imports the others', async () => {
    const { conversationId, userId } = own
    const good = { ...text, conversationId, userId, createdAt: '2021-01-01T00:00:00Z', tags: { id: randomUUID() } }
    const { status, body } = await ask('POST', `${messages}/import-messages`, {
      messages: [
        { ...good, conversationId: foreign.conversationId },
        good,
        { ...good, createdAt: '2999-01-01T00:00:00Z' },
        { ...good, userId: foreign.userId },
      ],
    })
    expect({ status, body }).toMatchObject({ status: 400, body: { type: 'InvalidPayload' } })
    expect(body.metadata.failedMessages.map(({ index }: { index: number }) => index)).toEqual([0, 2, 3])
    const [resolved] = body.metadata.resolvedMessages
    expect((await ask('GET', `${messages}/${resolved.id}`)).body.message).toEqual(resolved)
  })

  test('createMessage keeps a message until its time', async () => {
    const scheduled = { ...text, conversationId: own.conversationId, schedule: { delay: 3_600_000 } }
    const created = await ask('POST', messages, scheduled)
    expect(created).toMatchObject({ status: 201, body: { message: text } })
    const { id, createdAt } = created.body.message
    expect(await ask('GET', `${messages}/${id}`)).toMatchObject(notFound)
    const [event] = await platform.context
      .db('events')
      .where({ type: 'message_scheduled', bot_id: own.botId })
      .whereRaw(`payload->'message'->>'id' = ?`, [id])
    expect(event).toMatchObject({ status: 'scheduled', available_at: new Date(createdAt) })
    expect(await ask('POST', messages, { ...scheduled, conversationId: foreign.conversationId })).toMatchObject({
      status: 400,
      body: { type: 'ReferenceNotFound' },
    })
  })

  test('initializeIncomingMessage is for integrations, and listTagValues has no callers any more', async () => {
    expect(await ask('POST', '/v1/chat/initialize-incoming-message', {})).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('x-integration-id') },
    })
    expect(await ask('GET', '/v1/chat/tags/colour/values?type=user')).toMatchObject({
      status: 410,
      body: { type: 'ResourceGone' },
    })
  })

  test('nothing of another bot is reached', async () => {
    const said = { ...text, conversationId: foreign.conversationId, tags: { id: randomUUID() } }
    const { message } = (await foreign.entryPoints.overHttp('POST', messages, said)).body
    expect(await ask('PUT', `${messages}/${message.id}`, { tags: { mine: 'yes' } })).toMatchObject(notFound)
    expect(await ask('DELETE', `${messages}/${message.id}`)).toMatchObject(notFound)
    expect(await ask('POST', `${messages}/get-or-create`, said)).toMatchObject({
      status: 400,
      body: { type: 'ReferenceNotFound' },
    })
    expect((await ask('GET', `${messages}?tags.id=${said.tags.id}`)).body.messages).toEqual([])
  })
})

test('a chat’s listener receives the bot’s changes of participants and messages', async () => {
  const bot = await platform.createBot()
  const [owner, guest] = [await createChatUser(bot.chatUrl), await createChatUser(bot.chatUrl, { id: 'guest' })]
  const conversationId = await owner.createConversation()
  const ask: Ask = (method, path, body) => platform.ask(method, path, body, { 'x-bot-id': bot.id })
  const stream = await listen(bot.chatUrl, owner.key, conversationId)
  const row = await platform.context.db('users').where({ bot_id: bot.id, foreign_id: guest.userId }).first()
  const participants = `/v1/chat/conversations/${conversationId}/participants`
  await ask('POST', participants, { userId: row!.id })
  await ask('DELETE', `${participants}/${row!.id}`)
  const tags = { id: '1' }
  const { message } = (await ask('POST', `${messages}/get-or-create`, { ...text, conversationId, tags })).body
  await ask('POST', `${messages}/get-or-create`, { ...text, conversationId, tags })
  await ask('DELETE', `${messages}/${message.id}`)
  await expect.poll(() => stream.frames().length).toBe(4)
  const about = { conversationId, participantId: 'guest' }
  expect(stream.frames()).toMatchObject([
    { type: 'participant_added', data: about },
    { type: 'participant_removed', data: about },
    { type: 'message_created', data: { id: message.id, isBot: true } },
    { type: 'message_deleted', data: { id: message.id, conversationId, userId: bot.id } },
  ])
  await stream.close()
})

const scheduleOnce = async (payload: object, tags: object) => {
  const schedule = { delay: 3_600_000 }
  const body = { type: 'text', conversationId: own.conversationId, tags, payload, schedule }
  return (await own.entryPoints.overHttp('POST', `${messages}/get-or-create`, body)).body
}
const find = async (id: string) => (await own.entryPoints.overHttp('GET', `${messages}/${id}`)).body.message
/** The event that holds a scheduled message. */
const findEvent = (db: Database, id: string) => db('events').whereRaw(`payload #>> '{message,id}' = ?`, [id])
/** The sessions that wait for a lock with a statement. */
const isWaiting = (statement: string) =>
  platform.context
    .db('pg_stat_activity')
    .where({ wait_event_type: 'Lock' })
    .whereRaw('datname = current_database()')
    .whereLike('query', `%${statement}%`)
/** A transaction that the end of the test rolls back, if it is still open. */
const begin = async () => {
  const transaction = await platform.context.db.transaction()
  onTestFinished(async () => void (transaction.isCompleted() || (await transaction.rollback())))
  return transaction
}

describe('a change of a scheduled message', () => {
  test('is in it although the scheduler has read it before', async () => {
    const tags = { id: randomUUID() }
    const { message } = await scheduleOnce({ text: 'one' }, tags)
    const transaction = await begin()
    await transaction('conversations').where({ id: own.conversationId }).forUpdate().first()
    await findEvent(platform.context.db, message.id).update({ available_at: new Date() })
    await expect.poll(() => isWaiting('from conversations')).toHaveLength(1)
    expect((await scheduleOnce({ text: 'two' }, tags)).message).toMatchObject({
      id: message.id,
      payload: { text: 'two' },
    })
    await transaction.commit()
    await expect.poll(() => find(message.id)).toMatchObject({ payload: { text: 'two' } })
  })

  test('is one of the sent message when it is sent meanwhile', async () => {
    const tags = { id: randomUUID() }
    const { message } = await scheduleOnce({ text: 'one' }, tags)
    const transaction = await begin()
    const event = await findEvent(transaction, message.id).forUpdate().first()
    await storeMessage(transaction, event!.payload as unknown as ReadyMessage)
    await endScheduledEvent(transaction, event!.id, { status: 'processed' })
    const changing = scheduleOnce({ text: 'two' }, tags)
    await expect.poll(() => isWaiting('update events')).toHaveLength(1)
    await transaction.commit()
    expect(await changing).toMatchObject({ message: { id: message.id }, meta: { created: false } })
    expect(await find(message.id)).toMatchObject({ payload: { text: 'two' } })
  })
})

import type { Knex } from 'knex'
import { LRUCache } from 'lru-cache'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messageCreated } from '#shared/models/event.ts'
import { recordPaid } from '#shared/rpc/journal.ts'
import { claimNextEvents } from '#shared/store/mailboxes.ts'
import { newId } from '#shared/ids.ts'
import type { HostCall, HostReply } from '#sandbox/protocol/contract.ts'
import { createHostHandler } from '../../../worker/execution/host.ts'
import { createChatUser } from '../../support/chat-client.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
})
afterAll(() => platform[Symbol.asyncDispose]())

/** A conversation with one event that waits, and the doors of its runs, one after the other. */
async function openRuns() {
  const bot = await platform.createBot()
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, 'hello')
  let actionsCalled = 0
  const begin = async () => {
    const event = (await claimNextEvents(platform.context.db, [conversationId]))[0]!
    expect(event.type).toBe(messageCreated)
    const handle = createHostHandler(platform.context, {
      botId: bot.id,
      eventId: event.id,
      attempt: event.attempt,
      scope: '',
      openStreams: new Map(),
      ended: new AbortController().signal,
      async callAction() {
        actionsCalled += 1
        return { calls: actionsCalled }
      },
    })
    const host = async (call: HostCall) => {
      const reply = await handle(call)
      if ('interrupted' in reply) throw new Error(reply.interrupted)
      return reply
    }
    return {
      post: (path: string, body: object) => host({ method: 'POST', path: `/v1/chat/${path}`, body: body as never }),
      say: (text: string) =>
        host({ method: 'POST', path: '/v1/chat/messages', body: { conversationId, type: 'text', payload: { text } } }),
    }
  }
  /** Makes a paid call as the newest run of the event. */
  const pay = async (attempt: number, eventId: string, perform: () => Promise<string>) => {
    const call = { operation: 'generateText#hash', ordinal: 1 }
    const execution = { eventId, attempt, call, openStreams: new Map(), callAction: async () => ({}) }
    const caller = { kind: 'bot', botId: bot.id, execution } as const
    return recordPaid({ ...platform.context, caller }, {}, unrecorded, perform)
  }
  const claim = async () => (await claimNextEvents(platform.context.db, [conversationId]))[0]!
  return { bot, conversationId, begin, claim, pay }
}

const unrecorded = new LRUCache<string, Promise<unknown>>({ max: 10 })

describe('a paid call', () => {
  test('is made again after it failed for lack of a connection, and not after its result is recorded', async () => {
    const { claim, pay } = await openRuns()
    const { id, attempt } = await claim()
    const lost = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    await expect(pay(attempt, id, () => Promise.reject(lost))).rejects.toBe(lost)
    expect(await pay(attempt, id, async () => 'one')).toBe('one')
    expect(await pay(attempt, id, async () => 'another')).toBe('one')
    expect(unrecorded.size).toBe(0)
  })

  test('that is in flight when its event is run again is joined by that run', async () => {
    const { claim, pay } = await openRuns()
    const { id, attempt } = await claim()
    const { promise, resolve } = Promise.withResolvers<string>()
    const first = pay(attempt, id, () => promise).catch((error: unknown) => error)
    await expect.poll(() => unrecorded.size).toBe(1)
    await platform.context
      .db('events')
      .where({ id })
      .update({ attempt: attempt + 1 })
    const second = pay(attempt + 1, id, async () => 'another')
    resolve('one')
    expect(await second).toBe('one')
    expect(await first).toMatchObject({ type: 'ResourceLockedConflict' })
    expect(unrecorded.size).toBe(0)
  })
})

describe('a run that is repeated', () => {
  test('gets the recorded answers, call by call, and does nothing twice', async () => {
    const { bot, conversationId, begin } = await openRuns()
    const event = { type: 'later', payload: {} }
    const state = `states/bot/${bot.id}/mood`
    const first = await begin()
    const answers = [
      await first.say('one'),
      await first.say('two'),
      await first.post('events', event),
      await first.post(state, { payload: { mood: 'fine' } }),
      await first.post('actions', { type: 'count', input: {} }),
    ]
    const second = await begin()
    expect([
      await second.say('worded differently'),
      await second.say('two'),
      await second.post('events', event),
      await second.post(state, { payload: { mood: 'changed' } }),
      await second.post('actions', { type: 'count', input: {} }),
    ]).toEqual(answers)
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 200, 200])
    expect((await second.say('three')).status).toBe(201)

    const { db } = platform.context
    const said = await db('messages')
      .where({ conversation_id: conversationId, direction: 'outgoing' })
      .orderBy('created_at')
    expect(said.map(({ payload }) => payload['text'])).toEqual(['one', 'two', 'three'])
    expect(await db('events').where({ bot_id: bot.id, type: 'later' })).toHaveLength(1)
    expect(await db('states').where({ bot_id: bot.id }).pluck('payload')).toEqual([{ mood: 'fine' }])
  })

  test('performs a call that the first run made in vain', async () => {
    const { begin } = await openRuns()
    const message = { conversationId: newId('conv'), type: 'text', payload: { text: 'nowhere' } }
    const first = await begin()
    expect(await first.post('messages', message)).toMatchObject({ status: 400, body: { type: 'ReferenceNotFound' } })
    const second = await begin()
    expect((await second.say('somewhere')).status).toBe(201)
  })
})

test('a run that was taken over can write nothing more', async () => {
  const { bot, conversationId, begin } = await openRuns()
  const zombie = await begin()
  await begin()
  const refused = { status: 409, body: { type: 'ResourceLockedConflict' } }
  expect(await zombie.say('from beyond')).toMatchObject(refused)
  expect(await zombie.post('events', { type: 'ghost', payload: {} })).toMatchObject(refused)
  expect(await zombie.post(`states/bot/${bot.id}/x`, { payload: {} })).toMatchObject(refused)
  const { db } = platform.context
  expect(await db('messages').where({ conversation_id: conversationId, direction: 'outgoing' })).toEqual([])
  expect(await db('events').where({ bot_id: bot.id, type: 'ghost' })).toEqual([])
  expect(await db('states').where({ bot_id: bot.id })).toEqual([])
})

test('a call that is made twice at the same moment is performed once', async () => {
  const { conversationId, begin } = await openRuns()
  await begin()
  const { db } = platform.context
  const event = (await db('events').where({ mailbox: conversationId }).first())!
  const run = {
    botId: event.bot_id,
    eventId: event.id,
    attempt: 1,
    scope: '',
    openStreams: new Map(),
    ended: new AbortController().signal,
    callAction: async () => ({}),
  }
  const body = { conversationId, type: 'text', payload: { text: 'once' } }
  const answers = await Promise.all(
    Array.from({ length: 5 }, () =>
      createHostHandler(platform.context, run)({ method: 'POST', path: '/v1/chat/messages', body }),
    ),
  )
  const said = await db('messages').where({ conversation_id: conversationId, direction: 'outgoing' }).pluck('id')
  expect(said).toHaveLength(1)
  for (const answer of answers) expect(answer).toMatchObject({ status: 201, body: { message: { id: said[0] } } })
})

test('a call whose commit is not answered is made again by its run, which gets the answer', async () => {
  const { bot, claim } = await openRuns()
  const { id: eventId, attempt } = await claim()
  let lost = 0
  const db = new Proxy(platform.context.db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (name !== 'transaction') return value
      return async (work: (transaction: Knex) => Promise<unknown>) => {
        await target.transaction(work)
        lost += 1
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
      }
    },
  })
  const run = { botId: bot.id, eventId, attempt, scope: '', openStreams: new Map(), callAction: async () => ({}) }
  const ended = new AbortController().signal
  const host = createHostHandler({ ...platform.context, db }, { ...run, ended })
  const call = async (method: string, path: string, body: object = {}) =>
    host({ method, path, body: body as never }) as Promise<HostReply>
  expect(await call('POST', '/v1/tables', { name: 'ordersTable', schema: {} })).toMatchObject({ status: 200 })
  expect(await call('DELETE', '/v1/tables/ordersTable')).toMatchObject({ status: 200, body: {} })
  expect(lost).toBe(2)
  expect(await call('POST', '/v1/chat/users')).toMatchObject({ status: 201 })
  const { id: userId } = (await platform.context.db('users').where({ bot_id: bot.id }).orderBy('id', 'desc').first())!
  expect(await call('DELETE', `/v1/chat/users/${userId}`)).toMatchObject({ status: 200 })
  expect(lost).toBe(4)
})

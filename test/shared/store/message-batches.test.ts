import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { postgresCode, uniqueViolation } from '#shared/errors.ts'
import { newId } from '#shared/ids.ts'
import type { NewIncomingMessage, NewOutgoingMessage, StoredMessage } from '#shared/store/messages.ts'
import { storeIncoming, storeOutgoing } from '#shared/store/message-batches.ts'
import { createChatUser, type ChatUser } from '../../support/chat-client.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../support/platform.ts'

let platform: Platform
let bot: DeployedBot
let installationId: string
let chatUser: ChatUser
let conversations: string[]
beforeAll(async () => {
  platform = await openPlatform({ worker: false, backEnd: 'postgres' })
  bot = await platform.createBot()
  const installation = await platform.context.db('installations').where({ webhook_id: bot.webhookId }).first()
  installationId = installation!.id
  chatUser = await createChatUser(bot.chatUrl, { id: 'ada' })
})
afterAll(() => platform[Symbol.asyncDispose]())
beforeEach(async () => {
  conversations = await Promise.all(Array.from({ length: 12 }, () => chatUser.createConversation()))
})

const db = () => platform.context.db

const incoming = (externalConversationId: string, text: string, fields: object = {}): NewIncomingMessage => ({
  id: newId('msg'),
  botId: bot.id,
  installationId,
  externalConversationId,
  externalUserId: 'ada',
  type: 'text',
  payload: { text },
  event: { id: newId('evt'), type: 'message_created', integration: 'chat' },
  ...fields,
})

const outgoing = (conversationId: string, text: string): NewOutgoingMessage => ({
  id: newId('msg'),
  botId: bot.id,
  conversationId,
  userId: bot.id,
  type: 'text',
  payload: { text },
  deliveryId: newId('evt'),
})

/** The texts of a conversation, in the order of its log. */
const texts = async (conversationId: string) =>
  (await db()('messages').where({ conversation_id: conversationId }).orderBy(['created_at', 'id'])).map(
    ({ payload }) => payload['text'],
  )

describe('messages that come together', () => {
  test('are stored each in its place: those of a conversation in their order, a place apart', async () => {
    const given = conversations.flatMap((id) => ['a', 'b', 'c', 'd'].map((text) => incoming(id, text)))
    const rows = await Promise.all(given.map((message) => storeIncoming(db(), message)))
    for (const id of conversations) {
      expect(await texts(id)).toEqual(['a', 'b', 'c', 'd'])
      const own = rows.filter((row): row is StoredMessage => row?.conversation_id === id)
      expect(own.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4])
      expect(new Set(own.map(({ clock }) => clock.getTime())).size).toBe(4)
      expect(own.map(({ created_at: at, clock }) => at.getTime() - clock.getTime())).toEqual([0, 0, 0, 0])
      const conversation = await db()('conversations').where({ id }).first()
      expect(conversation).toMatchObject({ sequence: 4, clock: own[3]!.clock })
      const events = await db()('events').where({ mailbox: id }).orderBy('created_at')
      expect(events.map((event) => event.message_id)).toEqual(own.map((row) => row.id))
      expect(events.map((event) => event.created_at)).toEqual(own.map((row) => row.created_at))
    }
  })

  test('come after all that was there, however often', async () => {
    const [id] = conversations as [string]
    for (const round of ['1', '2', '3']) {
      const given = ['a', 'b', 'c'].map((text) => incoming(id, text + round))
      // The first goes out alone, and the others while it is under way.
      await Promise.all(given.map((message) => storeIncoming(db(), message)))
    }
    expect(await texts(id)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'b3', 'c3'])
  })

  test('may know one conversation by two names', async () => {
    const own = await chatUser.createConversation('by-my-name')
    const { id } = (await db()('conversations').where({ foreign_id: own }).first())!
    const rows = await Promise.all(
      ['x', 'by-my-name', id, 'by-my-name', id].map((name, index) => storeIncoming(db(), incoming(name, `${index}`))),
    )
    expect(rows.map((row) => row?.conversation_id)).toEqual([undefined, id, id, id, id])
    expect(await texts(id)).toEqual(['1', '2', '3', '4'])
  })

  test('do not help one another in: who takes no part, or is another’s, is not stored', async () => {
    await createChatUser(bot.chatUrl, { id: 'stranger' })
    const other = await platform.createBot()
    const [first, second] = conversations as [string, string]
    const rows = await Promise.all([
      storeIncoming(db(), incoming(first, 'alone')),
      storeIncoming(db(), incoming(first, 'good')),
      storeIncoming(db(), incoming(second, 'stranger', { externalUserId: 'stranger' })),
      storeIncoming(db(), incoming(second, 'other bot', { botId: other.id })),
      storeIncoming(db(), incoming(second, 'nobody', { externalUserId: 'nobody' })),
      storeIncoming(db(), incoming('conv_none', 'nowhere')),
    ])
    expect(rows.map((row) => row?.payload['text'])).toEqual([
      'alone',
      'good',
      undefined,
      undefined,
      undefined,
      undefined,
    ])
    expect(await texts(second)).toEqual([])
    const foreign = { ...outgoing(second, 'not mine'), botId: other.id }
    const said = await Promise.all(
      [outgoing(first, 'mine'), outgoing(second, 'mine'), foreign].map((one) => storeOutgoing(db(), one)),
    )
    expect(said.map((row) => row?.payload['text'])).toEqual(['mine', 'mine', undefined])
  })

  test('come each through its own installation: names of another one give no access', async () => {
    const [own] = conversations as [string]
    const first = (await db()('installations').where({ id: installationId }).first())!
    const elsewhere = { ...first, id: 'second', alias: 'second', webhook_id: 'second' }
    await db()('installations').insert(elsewhere)
    const rows = await Promise.all([
      storeIncoming(db(), incoming(own, 'alone')),
      storeIncoming(db(), incoming(own, 'ada')),
      storeIncoming(db(), incoming(own, 'through another door', { installationId: elsewhere.id })),
    ])
    expect(rows.map((row) => row?.payload['text'])).toEqual(['alone', 'ada', undefined])
    expect(await texts(own)).toEqual(['alone', 'ada'])
  })

  test('fail each for itself', async () => {
    const [first, second, third] = conversations as [string, string, string]
    const results = await Promise.allSettled([
      storeIncoming(db(), incoming(first, 'alone')),
      storeIncoming(db(), incoming(first, 'before')),
      storeIncoming(db(), incoming(second, 'cannot be \u0000 stored')),
      storeIncoming(db(), incoming(third, 'after')),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    expect(await Promise.all([first, second, third].map(texts))).toEqual([['alone', 'before'], [], ['after']])
  })

  test('do not wait for a locked conversation', async () => {
    const [held, ...free] = conversations as [string, ...string[]]
    const transaction = await db().transaction()
    await transaction('conversations')
      .where({ id: held })
      .update({ sequence: db().raw('sequence') })
    const [, waiting, ...others] = [free[0]!, held, ...free].map((id) => storeIncoming(db(), incoming(id, 'hello')))
    let isStored = false
    const stored = waiting!.then((row) => {
      isStored = true
      return row
    })
    expect((await Promise.all(others)).every((row) => row !== undefined)).toBe(true)
    expect((await storeIncoming(db(), incoming(free[1]!, 'and later')))?.sequence).toBe(2)
    expect(isStored).toBe(false)
    await transaction.commit()
    expect((await stored)?.conversation_id).toBe(held)
  })

  test('are stored with the transaction that they are a part of', async () => {
    const [first, second] = conversations as [string, string]
    await db()
      .transaction(async (transaction) => {
        await Promise.all([first, second].map((id) => storeIncoming(transaction, incoming(id, 'taken back'))))
        await storeOutgoing(transaction, outgoing(first, 'taken back'))
        await transaction.rollback()
      })
      .catch(() => {})
    expect(await Promise.all([first, second].map(texts))).toEqual([[], []])
  })
})

describe('messages of bots in one batch', () => {
  test('is journalled with it, once', async () => {
    const effects = await Promise.all(conversations.map(run))
    const say = (ordinal: number) =>
      Promise.allSettled(
        conversations.map((id, index) =>
          storeOutgoing(db(), outgoing(id, `said ${ordinal}`), effects[index]!(ordinal)),
        ),
      )
    expect((await say(1)).every(({ status }) => status === 'fulfilled')).toBe(true)
    for (const result of await say(1)) {
      expect(result.status === 'rejected' && postgresCode(result.reason)).toBe(uniqueViolation)
    }
    await say(2)
    for (const id of conversations) expect(await texts(id)).toEqual(['said 1', 'said 2'])
    const [entry] = await db()('effects')
      .where({ event_id: effects[0]!(1).eventId })
      .orderBy('ordinal')
    expect(entry).toMatchObject({ operation: 'createMessage', ordinal: 1, input_hash: 'hash', result: { id: 'it' } })
  })

  test('by a run that is not the newest any more is not stored, with others in its batch', async () => {
    const effects = await Promise.all(conversations.map(run))
    const rows = await Promise.all(
      conversations.map((id, index) => storeOutgoing(db(), outgoing(id, 'hello'), effects[index]!(1, index % 2))),
    )
    expect(rows.map((row) => row !== undefined)).toEqual(conversations.map((_, index) => index % 2 === 1))
    expect((await Promise.all(conversations.map(texts))).map((said) => said.length)).toEqual(
      conversations.map((_, index) => index % 2),
    )
  })
})

/** An event with a run under way, and the effect of a call of that run. */
async function run(conversationId: string) {
  const id = newId('evt')
  await db()('events').insert({
    id,
    bot_id: bot.id,
    mailbox: conversationId,
    conversation_id: conversationId,
    type: 'x',
    payload: {},
    attempt: 1,
  })
  return (ordinal: number, attempt = 1) => ({
    eventId: id,
    attempt,
    operation: 'createMessage',
    ordinal,
    inputHash: 'hash',
    result: { id: 'it' },
  })
}

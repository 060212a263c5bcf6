import { Duplex, duplexPair } from 'node:stream'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openChannel } from '#sandbox/protocol/channel.ts'
import { newId } from '#shared/ids.ts'
import { createMessage } from '#shared/operations/runtime/createMessage.ts'
import { conversationTopic } from '#shared/signals/signals.ts'
import { readLog } from '#shared/store/conversation-log.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { openQueueBackend } from '#shared/queue/queue-backend.ts'
import { openRedis } from '#shared/connectivity/redis.ts'
import { query } from '#shared/store/database.ts'
import { claimNextEvents } from '#shared/store/mailboxes.ts'
import { storeIncoming } from '#shared/store/message-batches.ts'
import { insertIncomingMessage } from '#shared/store/messages.ts'
import { Client, type Pool } from 'pg'
import { createChatUser } from '../../support/chat-client.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { createRedisSpace } from '../../support/redis.ts'

/** The costs of a message are mostly writes, to sockets, indexes and the disk, and repeated planning. */

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ worker: false, backEnd: 'postgres' })
})
afterAll(() => platform[Symbol.asyncDispose]())

const db = () => platform.context.db

test('commands of one turn are written to Redis at once, before new input is read', async () => {
  const { url, prefix } = createRedisSpace()
  const { sender } = openRedis({ url, prefix, allowSelfSigned: false }, createLogger('test', 'silent'), () => true)
  try {
    await sender.ping()
    const answers = Promise.all(Array.from({ length: 20 }, () => sender.ping()))
    expect(sender.stream.writableCorked).toBe(1)
    expect(sender.stream.writableLength).toBeGreaterThan(0)
    await new Promise((resolve) => setImmediate(resolve))
    expect([sender.stream.writableCorked, sender.stream.writableLength]).toEqual([0, 0])
    expect(await answers).toEqual(Array.from({ length: 20 }, () => 'PONG'))
  } finally {
    sender.disconnect()
  }
})

test('frames that are sent in one moment are written to the other side at once, and arrive one by one', async () => {
  const writes: number[] = []
  const [near, far] = duplexPair()
  const counted = new Duplex({
    read() {},
    writev(chunks, done) {
      writes.push(chunks.length)
      near.write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), done)
    },
  })
  const arrived: unknown[] = []
  const nothing = { maximumBytes: 1000, onFrame() {}, onBroken() {} }
  openChannel(far, { ...nothing, onFrame: (frame) => arrived.push(frame) })
  const channel = openChannel<{ count: number }>(counted, nothing)
  const sent = Array.from({ length: 20 }, (_, count) => ({ count }))
  for (const frame of sent) channel.send(frame)
  await expect.poll(() => arrived).toEqual(sent)
  expect(writes).toEqual([1])
})

test('signals that are published while one is under way go out in one statement', async () => {
  const statements = vi.spyOn(Client.prototype, 'query')
  const heard: object[] = []
  const unsubscribe = await platform.context.signals.subscribe('few', (signal) => heard.push(signal))
  try {
    const signals = Array.from({ length: 20 }, (_, number) => ({ number }))
    await Promise.all(signals.map((signal) => platform.context.signals.publish('few', signal)))
    await expect.poll(() => heard).toEqual(signals)
    expect(matching(/pg_notify/, statements.mock.calls)).toHaveLength(2)
  } finally {
    statements.mockRestore()
    unsubscribe()
  }
})

/** Calls of `query` whose statement, as JSON with its values, matches a pattern. */
function matching(pattern: RegExp, calls: unknown[][]): unknown[][] {
  return calls.filter(([statement]) => pattern.test(JSON.stringify(statement)))
}

/** Statements by which listening connections learn the time of the database, and whether they still exist. They come at any time. */
const periodic = new Set<unknown>(['select 1', 'select clock_timestamp() as now'])

/** Calls of `query` without those of listening connections. */
function withoutMonitors(calls: unknown[][]): unknown[][] {
  return calls.filter(([statement]) => !periodic.has(statement))
}

test('wake-ups that come while one is added are one statement, and one job for each mailbox; the queue keeps no events', async () => {
  const { queue } = platform.context
  await queue.wake('event', 'mailbox of the first', 'bot')
  const statements = vi.spyOn(Client.prototype, 'query')
  try {
    const mailboxes = Array.from({ length: 20 }, (_, number) => `mailbox ${number % 10}`)
    await Promise.all(mailboxes.map((mailbox) => queue.wake('event', mailbox, 'bot')))
    expect(withoutMonitors(statements.mock.calls)).toHaveLength(2)
  } finally {
    statements.mockRestore()
  }
  const { rows: jobs } = await db().raw(
    `select count(*)::integer, count(distinct data ->> 'mailbox')::integer as mailboxes from bullmq.job
     where data ->> 'mailbox' like 'mailbox %'`,
  )
  expect(jobs).toEqual([{ count: 11, mailboxes: 11 }])
  const { rows: events } = await db().raw('select count(*)::integer from bullmq.event')
  expect(events).toEqual([{ count: 0 }])
})

test('the statement that stores a lone message of a bot announces it as the listeners would read it', async () => {
  const { context } = platform
  const bot = await platform.createBot()
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  const heard: object[] = []
  const unsubscribe = await context.signals.subscribe(conversationTopic(conversationId), (signal) => heard.push(signal))
  const statements = vi.spyOn(Client.prototype, 'query')
  try {
    const caller = { kind: 'bot', botId: bot.id } as const
    const say = async (payload: object) => {
      await createMessage.call({ ...context, caller }, { conversationId, type: 'text', payload })
    }
    await say({ text: 'né "$1" :id', metadata: { a: 1 } })
    await expect.poll(() => heard).toHaveLength(1)
    const ofMessage = new RegExp(`${conversationId}|${bot.id}|pg_notify|^"(?:begin|commit)`, 'i')
    expect(matching(ofMessage, statements.mock.calls)).toHaveLength(1)
    const entries = await readLog(context.db, { botId: bot.id, conversationId }, new Date(0), new Date(8e15))
    expect(heard).toEqual([{ sequence: 1, at: entries.entries[0]!.at.getTime(), signal: entries.entries[0]!.signal }])

    await say({ text: 'x'.repeat(9000) })
    await expect.poll(() => heard).toHaveLength(2)
    expect(heard[1]).toMatchObject({ sequence: 2, signal: { data: { payload: { text: 'x'.repeat(9000) } } } })
  } finally {
    statements.mockRestore()
    unsubscribe()
  }
})

test('a statement is planned once for a connection, and not for each set of values', async () => {
  const plans = await db().transaction(async (transaction) => {
    for (const id of ['a', 'b', 'c']) await query(transaction, 'select id as planned from bots where id = :id', { id })
    return transaction.raw<{ rows: object[] }>(
      `select generic_plans::integer, custom_plans::integer from pg_prepared_statements where statement like '%as planned%'`,
    )
  })
  expect(plans.rows).toEqual([{ generic_plans: 3, custom_plans: 0 }])
})

test('a message is stored without reading other conversations of its bot, also by a plan of when there were few', async () => {
  const bot = await platform.createBot()
  const { id: installationId } = (await db()('installations').where({ webhook_id: bot.webhookId }).first())!
  const chatUser = await createChatUser(bot.chatUrl, { id: 'bob' })
  const conversationId = await chatUser.createConversation()
  const read = await db().transaction(async (transaction) => {
    const store = () =>
      insertIncomingMessage(transaction, {
        id: newId('msg'),
        botId: bot.id,
        installationId,
        externalConversationId: conversationId,
        externalUserId: 'bob',
        type: 'text',
        payload: { text: 'one of few' },
        event: { id: newId('evt'), type: 'message_created', integration: 'chat' },
      })
    await store()
    const others = Array.from({ length: 100 }, () => ({
      id: newId('conv'),
      bot_id: bot.id,
      installation_id: installationId,
      channel: 'channel',
    }))
    await transaction('conversations').insert(others)
    const entriesRead = async () => {
      const { rows } = await transaction.raw<{ rows: [{ count: number }] }>(
        `select sum(pg_stat_get_xact_tuples_returned(indexrelid))::integer as count
         from pg_index where indrelid = 'conversations'::regclass`,
      )
      return rows[0].count
    }
    const before = await entriesRead()
    expect(await store()).toBeDefined()
    return (await entriesRead()) - before
  })
  expect(read).toBeLessThan(10)
})

test('a claim finds room in the page of its event, and writes to no index', async () => {
  const bot = await platform.createBot()
  const installation = (await db()('installations').where({ webhook_id: bot.webhookId }).first())!
  const chatUser = await createChatUser(bot.chatUrl, { id: 'ada' })
  const conversations = await Promise.all(Array.from({ length: 6 }, () => chatUser.createConversation()))
  // More than a page of events; the oldest of each conversation are in the first.
  await Promise.all(
    Array.from({ length: 120 }, (_, index) =>
      storeIncoming(db(), {
        id: newId('msg'),
        botId: bot.id,
        installationId: installation.id,
        externalConversationId: conversations[index % conversations.length]!,
        externalUserId: 'ada',
        type: 'text',
        payload: { text: 'one of many' },
        event: { id: newId('evt'), type: 'message_created', integration: 'chat' },
      }),
    ),
  )
  const { updated, inPage } = await db().transaction(async (transaction) => {
    await claimNextEvents(transaction, conversations)
    const { rows } = await transaction.raw<{ rows: [{ updated: number; inPage: number }] }>(
      `select pg_stat_get_xact_tuples_updated('events'::regclass)::integer as updated,
         pg_stat_get_xact_tuples_hot_updated('events'::regclass)::integer as "inPage"`,
    )
    return rows[0]
  })
  expect(updated).toBe(6)
  expect(inPage).toBeGreaterThanOrEqual(4)
})

test('messages of a conversation write to no index of its row', async () => {
  const bot = await platform.createBot()
  const installation = (await db()('installations').where({ webhook_id: bot.webhookId }).first())!
  const chatUser = await createChatUser(bot.chatUrl, { id: 'eve' })
  const conversation = await chatUser.createConversation()
  const { updated, inPage } = await db().transaction(async (transaction) => {
    // The connection may still have counts of earlier transactions.
    const count = async () => {
      const { rows } = await transaction.raw<{ rows: [{ updated: number; inPage: number }] }>(
        `select pg_stat_get_xact_tuples_updated('conversations'::regclass)::integer as updated,
           pg_stat_get_xact_tuples_hot_updated('conversations'::regclass)::integer as "inPage"`,
      )
      return rows[0]
    }
    const before = await count()
    for (let index = 0; index < 10; index++) {
      await storeIncoming(transaction, {
        id: newId('msg'),
        botId: bot.id,
        installationId: installation.id,
        externalConversationId: conversation,
        externalUserId: 'eve',
        type: 'text',
        payload: { text: 'one of many' },
        event: { id: newId('evt'), type: 'message_created', integration: 'chat' },
      })
    }
    const after = await count()
    return { updated: after.updated - before.updated, inPage: after.inPage - before.inPage }
  })
  expect(updated).toBe(10)
  // One may go to another page, and one be the first of its ten minutes.
  expect(inPage).toBeGreaterThanOrEqual(8)
})

test('a queue in PostgreSQL does not wait for the disk, also where the database does otherwise', async () => {
  const { context } = platform
  await db().raw(`do $$ begin
    execute format('alter database %I set synchronous_commit = on', current_database());
  end $$`)
  const { connection, release } = openQueueBackend(context, 'sends')
  try {
    const { rows } = await (connection as Pool).query('show synchronous_commit')
    expect(rows).toEqual([{ synchronous_commit: 'off' }])
  } finally {
    await release()
  }
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { keepCount, keepCounts } from '#shared/store/message-counts.ts'
import { createChatUser, type ChatUser } from '../../support/chat-client.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../support/platform.ts'

let platform: Platform
let bot: DeployedBot
let user: ChatUser
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  bot = await platform.createBot()
  user = await createChatUser(bot.chatUrl)
})
afterAll(() => platform[Symbol.asyncDispose]())

const db = () => platform.context.db
const patience = { timeout: 10_000, interval: 20 }

const ask = (method: string, path: string, body?: object) =>
  platform.ask(method, `/v1/chat${path}`, body, { 'x-bot-id': bot.id })
const numberOf = async (id: string): Promise<number> =>
  (await ask('GET', `/conversations/${id}`)).body.conversation.messageCount
const countOf = async (id: string) =>
  (await db()('message_counts').where({ conversation_id: id }).first('counted')) as { counted: number } | undefined

/** A conversation with messages of the past, `msg_{id}_{n}`, a minute apart, the last of which is an hour old. */
async function createOld(messages: number): Promise<string> {
  const id = await user.createConversation()
  await db().raw(
    `insert into messages (id, bot_id, conversation_id, user_id, type, payload, direction, created_at, updated_at)
     select 'msg_' || id || '_' || n, bot_id, id, owner_id, 'text', '{"text": "old"}', 'incoming', at, at
     from conversations, generate_series(1, :messages::integer) n, lateral (
       select now() - interval '1 hour' - (:messages::integer - n) * interval '1 minute' as at
     ) time
     where id = :id`,
    { id, messages },
  )
  return id
}

const importOld = async (conversationId: string, text: string) => {
  const { userId } = (await db()('conversations').where({ id: conversationId }).first('owner_id as userId')) as {
    userId: string
  }
  const createdAt = new Date(Date.now() - 2 * 60 * 60 * 1000).toISOString()
  const message = { conversationId, userId, type: 'text', payload: { text }, createdAt }
  const { status } = await ask('POST', '/messages/import-messages', { messages: [message] })
  expect(status).toBe(200)
}

/** Counts the messages that are old enough, as a read of a long conversation does. */
const count = (id: string) => keepCounts(db(), [{ id, message_count: 2000, counted: 0 }])

test('the messages of a long conversation are counted once, and its number stays exact', async () => {
  const id = await createOld(1500)
  expect(await numberOf(id)).toBe(1500)
  expect(await countOf(id)).toEqual({ counted: 1500 })
  await user.send(id, 'new')
  expect(await numberOf(id)).toBe(1501)
  await importOld(id, 'imported')
  expect(await numberOf(id)).toBe(1502)
  expect((await ask('DELETE', `/messages/msg_${id}_7`)).status).toBe(200)
  expect(await numberOf(id)).toBe(1501)
  const { body } = await ask('GET', `/messages?conversationId=${id}`)
  expect((await ask('DELETE', `/messages/${body.messages[0].id}`)).status).toBe(200)
  expect(await numberOf(id)).toBe(1500)
  expect(await countOf(id)).toEqual({ counted: 1500 })
  await db()('messages').where({ conversation_id: id }).delete()
  expect([await numberOf(id), await countOf(id)]).toEqual([0, { counted: 0 }])
})

test('lists have the same numbers, and begin the count as well', async () => {
  const id = await createOld(1200)
  const { body } = await ask('GET', '/conversations')
  const [listed] = body.conversations.filter((each: { id: string }) => each.id === id)
  expect([listed.messageCount, await countOf(id)]).toEqual([1200, { counted: 1200 }])
  await user.send(id, 'new')
  const again = await ask('GET', '/conversations?minMessageCount=1201')
  expect(again.body.conversations).toMatchObject([{ id, messageCount: 1201 }])
})

test('messages of the last minute are not in the count, so that what is imported at the same time is', async () => {
  const id = await createOld(3)
  for (let sent = 0; sent < 4; sent++) await user.send(id, 'new')
  await count(id)
  expect([await countOf(id), await numberOf(id)]).toEqual([{ counted: 3 }, 7])
})

test('a count does not begin while messages of the bot are being deleted', async () => {
  const id = await createOld(10)
  const transaction = await db().transaction()
  await transaction('messages')
    .where({ id: `msg_${id}_5` })
    .delete()
  await count(id)
  expect(await countOf(id)).toBeUndefined()
  await transaction.commit()
  await count(id)
  expect([await countOf(id), await numberOf(id)]).toEqual([{ counted: 9 }, 9])
})

test('deletions and imports during a count change it afterwards', async () => {
  const id = await createOld(10)
  const changes = await db().transaction(async (counting) => {
    await counting.raw(`select pg_advisory_xact_lock(hashtext('message counts'), hashtext(?))`, [bot.id])
    const begun = [importOld(id, 'meanwhile'), ask('DELETE', `/messages/msg_${id}_2`)]
    const waiting = async () => {
      const { rows } = await counting.raw<{ rows: object[] }>(
        `select from pg_locks where locktype = 'advisory' and not granted
         and database = (select oid from pg_database where datname = current_database())`,
      )
      return rows.length
    }
    await expect.poll(waiting, patience).toBe(2)
    await keepCount(counting, id)
    expect(await counting('message_counts').where({ conversation_id: id }).first('counted')).toEqual({ counted: 10 })
    return begun
  })
  await Promise.all(changes)
  await importOld(id, 'afterwards')
  expect([await countOf(id), await numberOf(id)]).toEqual([{ counted: 11 }, 11])
})

test('counts amid sent, imported and deleted messages lose none', async () => {
  const id = await createOld(200)
  const changes = Array.from({ length: 40 }, async (_, index) => {
    await Promise.all([
      user.send(id, `sent ${index}`),
      importOld(id, `imported ${index}`),
      ask('DELETE', `/messages/msg_${id}_${index + 1}`),
      count(id),
    ])
  })
  await Promise.all(changes)
  expect(await numberOf(id)).toBe(240)
  await count(id)
  expect([await countOf(id), await numberOf(id)]).toEqual([{ counted: 200 }, 240])
})

test('reads answer when the count cannot be kept, and a later one keeps it', async () => {
  const id = await createOld(1100)
  const read = async () => {
    const { status, body } = await ask('GET', '/conversations?minMessageCount=1100')
    const listed = body.conversations.find((each: { id: string }) => each.id === id)
    return [await numberOf(id), status, listed?.messageCount]
  }
  await db().raw(`
    create function refuse_counts() returns trigger language plpgsql
      as $$ begin raise exception 'no counts' using errcode = 'read_only_sql_transaction'; end $$;
    create trigger refuse_counts before insert on message_counts for each row execute function refuse_counts()`)
  expect(await read()).toEqual([1100, 200, 1100])
  await db().raw('drop function refuse_counts cascade')
  await db().transaction(async (other) => {
    await other.raw('lock table message_counts in share mode')
    expect(await read()).toEqual([1100, 200, 1100])
  })
  expect(await countOf(id)).toBeUndefined()
  expect(await read()).toEqual([1100, 200, 1100])
  expect(await countOf(id)).toEqual({ counted: 1100 })
})

test('the count goes with its conversation', async () => {
  const id = await createOld(5)
  await count(id)
  expect(await countOf(id)).toEqual({ counted: 5 })
  expect((await ask('DELETE', `/conversations/${id}`)).status).toBe(200)
  expect(await countOf(id)).toBeUndefined()
})

import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Client } from 'pg'
import { verifyUserKey } from '#shared/integrations/user-keys.ts'
import { findInstallationByWebhook } from '#shared/store/installations.ts'
import { checkListener, findListener } from '#shared/store/listeners.ts'
import { createChatUser } from '../../support/chat-client.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ worker: false, backEnd: 'postgres' })
})
afterAll(() => platform[Symbol.asyncDispose]())

/** A user with a conversation, as a stream of it is opened. */
async function participant() {
  const { db, config } = platform.context
  const bot = await platform.createBot()
  const chatUser = await createChatUser(bot.chatUrl)
  const installation = (await findInstallationByWebhook(db, config.secret, bot.webhookId))!
  const key = await verifyUserKey(installation, config.secret, chatUser.key)
  return { installationId: installation.id, externalConversationId: await chatUser.createConversation(), key }
}

test('listeners of streams that are opened together are found and checked by two statements each', async () => {
  const { db } = platform.context
  const [one, other] = await Promise.all([participant(), participant()])
  const asked = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : other))
  const statements = vi.spyOn(Client.prototype, 'query')
  // The pings of the connection that listens go on.
  const asks = () => statements.mock.calls.filter(([statement]) => JSON.stringify(statement).includes('participants'))
  try {
    const found = await Promise.all(asked.map((listener) => findListener(db, listener)))
    expect(found.map((listener) => listener?.conversationId)).toEqual(
      asked.map(({ externalConversationId }) => externalConversationId),
    )
    expect(asks()).toHaveLength(2)
    const stranger = { conversationId: found[0]!.conversationId, userId: found[1]!.userId }
    const rights = await Promise.all([...found, stranger].map((listener) => checkListener(db, listener!)))
    expect(asks()).toHaveLength(4)
    expect(rights.slice(0, 20)).toEqual(asked.map(() => ({ is_user: true, is_participant: true })))
    expect(rights[20]).toEqual({ is_user: true, is_participant: false })
  } finally {
    statements.mockRestore()
  }
})

test('a listener is looked up, however many participants there are', async () => {
  const { db } = platform.context
  const listener = await participant()
  const transaction = await db.transaction()
  try {
    // The foreign keys of participants are not checked.
    await transaction.raw('set local session_replication_role = replica')
    await transaction.raw(
      `insert into participants (conversation_id, user_id, bot_id)
       select 'conv_' || n, 'user_' || n, 'bot' from generate_series(1, 20000) n`,
    )
    await transaction.raw('analyze participants')
    const countRead = async () => {
      const { rows } = await transaction.raw<{ rows: { read: number }[] }>(
        `select (seq_tup_read + idx_tup_fetch)::integer as read from pg_stat_xact_user_tables
         where relname = 'participants'`,
      )
      return rows[0]!.read
    }
    const before = await countRead()
    expect(await findListener(transaction, listener)).toMatchObject({ conversationId: expect.any(String) })
    expect((await countRead()) - before).toBeLessThan(10)
  } finally {
    await transaction.rollback()
  }
})

test('an id that cannot be stored, and the conversation of another, do not affect listeners that are found together', async () => {
  const { db } = platform.context
  const [one, other] = await Promise.all([participant(), participant()])
  const withId = (externalConversationId: string) => findListener(db, { ...one, externalConversationId })
  const results = await Promise.allSettled([
    findListener(db, one),
    withId('with \u0000'),
    withId(other.externalConversationId),
    withId('"}], "installation_id": "'),
    findListener(db, other),
  ])
  expect(results).toMatchObject([
    { value: { conversationId: one.externalConversationId } },
    { status: 'rejected' },
    { value: undefined },
    { value: undefined },
    { value: { conversationId: other.externalConversationId } },
  ])
})

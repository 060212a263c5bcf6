import { Client } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { pageOfAuditRecords } from '#shared/store/audit.ts'
import { maxRead } from '#shared/store/bounded-page.ts'
import type { Database } from '#shared/store/database.ts'
import { createChatUser } from '../../../support/chat-client.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../../support/platform.ts'

let platform: Platform
let client: Client
const since = '2024-01-01T00:00:00Z'
let bot: DeployedBot
const logs = async (filter: string) => {
  const { status, body } = await platform.ask('GET', `/v1/admin/bots/${bot.id}/logs?timeStart=${since}${filter}`)
  expect({ status, body }).toMatchObject({ status: 200 })
  return body as { logs: { id: string; message: string; timestamp: string }[]; nextToken?: string }
}
const messages = async (filter: string) => (await logs(filter)).logs.map(({ message }) => message)
let said: { conversationId: string; userId: string }[]

beforeAll(async () => {
  platform = await openPlatform()
  client = new Client({ apiUrl: platform.url, token: platform.token, workspaceId: platform.workspaceId })
  bot = await platform.createBot(`export const hooks = { afterIncomingMessage({ event, logger }) {
    logger.info('heard', event.preview)
    logger.warn('and WONDERED')
  } }`)
  said = []
  for (const text of ['first', 'second']) {
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    await chatUser.send(conversationId, text)
    await vi.waitUntil(async () => (await messages('')).length === 2 * said.length + 2, 10_000)
    said.push({ conversationId, userId: '' })
    const row = await platform.context.db('events').where({ conversation_id: conversationId }).first()
    said.at(-1)!.userId = row!.user_id!
  }
})

afterAll(() => platform[Symbol.asyncDispose]())

test('a bot’s log is read with the published client, the last lines first', async () => {
  const { logs: lines } = await client.getBotLogs({ id: bot.id, timeStart: since, messageContains: 'heard' })
  expect(lines).toMatchObject([
    { level: 'info', message: 'heard second', ...said[1] },
    { level: 'info', message: 'heard first', ...said[0] },
  ])
})

test('a bot’s log is narrowed by level, conversation, user, words and times', async () => {
  expect(await messages('&level=warn')).toEqual(['and WONDERED', 'and WONDERED'])
  expect(await messages('&messageContains=wondered')).toHaveLength(2)
  expect(await messages(`&conversationId=${said[0]!.conversationId}&level=info`)).toEqual(['heard first'])
  expect(await messages(`&userId=${said[1]!.userId}&level=info`)).toEqual(['heard second'])
  expect(await messages('&messageContains=%25')).toEqual([])
  expect(await messages('&timeEnd=2024-01-02T00:00:00Z')).toEqual([])
  const [last] = (await logs('')).logs
  expect(await messages(`&timeEnd=${last!.timestamp}`)).toHaveLength(4)
})

test('a bot’s log is read on page by page, in either direction', async () => {
  const all = (await logs('&sortDirection=asc')).logs
  for (const direction of ['asc', 'desc']) {
    const pages: typeof all = []
    let nextToken: string | undefined = ''
    while (nextToken !== undefined) {
      const page = await logs(`&pageSize=3&sortDirection=${direction}${nextToken && `&nextToken=${nextToken}`}`)
      pages.push(...page.logs)
      nextToken = page.nextToken
    }
    expect(direction === 'asc' ? pages : pages.toReversed()).toEqual(all)
  }
  const token = Buffer.from('1 msg_1').toString('base64url')
  const path = `/v1/admin/bots/${bot.id}/logs?timeStart=${since}&nextToken=${token}`
  expect(await platform.ask('GET', path)).toMatchObject({ status: 400, body: { type: 'InvalidQuery' } })
})

describe('a page of a long list with a filter that few rows pass', () => {
  const rows = maxRead + 2000
  let other: DeployedBot
  beforeAll(async () => {
    other = await platform.createBot()
    const { db } = platform.context
    const at = `timestamptz '2025-01-01' - n * interval '1 second'`
    // The oldest row is another one than all others.
    await db.raw(
      `insert into logs (bot_id, level, message, created_at)
       select ?, 'info', case n when ${rows} then 'the needle' else 'hay' end, ${at} from generate_series(1, ${rows}) n`,
      [other.id],
    )
    await db.raw(
      `insert into events (id, bot_id, mailbox, type, payload, status, created_at)
       select 'evt_' || n, ?, 'evt_' || n, case n when ${rows} then 'needle' else 'hay' end, '{}', 'processed', ${at}
       from generate_series(1, ${rows}) n`,
      [other.id],
    )
    await db.raw(
      `insert into audit_records (id, workspace_id, account_id, operation, fields, created_at)
       select 'audit_' || n, ?, 'account', case n when ${rows} then 'needle' else 'hay' end, '', ${at}
       from generate_series(1, ${rows}) n`,
      [platform.workspaceId],
    )
    await db.raw('analyze logs, events, audit_records')
  })

  const lists = {
    getBotLogs: () => `admin/bots/${other.id}/logs?timeStart=${since}&messageContains=needle`,
    listEvents: () => 'chat/events?type=needle',
    getAuditRecords: () => `admin/workspaces/${platform.workspaceId}/audit-records?operation=needle`,
  }
  test.each(Object.entries(lists))(
    'of %s ends after so many rows, and the next one continues there',
    async (_, list) => {
      const ask = async (more: string) => {
        const { status, body } = await platform.ask('GET', `/v1/${list()}${more}`, undefined, { 'x-bot-id': other.id })
        const { meta, ...rest } = body
        const { nextToken = meta?.nextToken, ...named } = rest
        return { status, found: (Object.values(named)[0] as unknown[]).length, nextToken }
      }
      const first = await ask('')
      expect(first).toEqual({ status: 200, found: 0, nextToken: expect.any(String) })
      expect(await ask(`&nextToken=${first.nextToken}`)).toEqual({ status: 200, found: 1, nextToken: undefined })
    },
  )

  test('is read on by those who look for the last lines of a log', async () => {
    const path = `/v1/admin/bots/${other.id}/logs/new?messageContains=needle`
    const { body } = await platform.ask('GET', path)
    expect(body).toMatchObject({ logs: [{ message: 'the needle' }], isCut: false })
  })

  test('of getAuditRecords without a filter reads few records', async () => {
    const { db } = platform.context
    await db.transaction(async (transaction) => {
      const before = await countRead(transaction, 'audit_records')
      const { rows: found } = await pageOfAuditRecords(transaction, platform.workspaceId, {}, { limit: 20 })
      expect(found).toHaveLength(20)
      expect((await countRead(transaction, 'audit_records')) - before).toBeLessThan(100)
    })
  })
})

async function countRead(transaction: Database, table: string): Promise<number> {
  const statement = `select (seq_tup_read + idx_tup_fetch)::integer as read from pg_stat_xact_user_tables where relname = ?`
  const { rows } = await transaction.raw<{ rows: { read: number }[] }>(statement, [table])
  return rows[0]!.read
}

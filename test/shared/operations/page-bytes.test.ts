import { connect } from 'node:net'
import { Client } from '@botpress/chat'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { megabyte } from '#shared/units.ts'
import { connectToChat } from '#shared/chat-client/chat-client.ts'
import { createChatUser, type ChatUser } from '../../support/chat-client.ts'
import { openPlatform, type Answer, type DeployedBot, type Platform } from '../../support/platform.ts'
import { installWebchat, visit } from '../../support/webchat.ts'

const walker = `
  export const actions = {
    async walk({ input, client }) {
      const pages = []
      let nextToken
      do {
        const { messages, meta } = await client.listMessages({ ...input, pageSize: 100, nextToken })
        pages.push(messages.map(({ id }) => id))
        nextToken = meta.nextToken
      } while (nextToken)
      return { pages }
    },
    async together({ input, client }) {
      const answers = await Promise.all(Array.from({ length: 8 }, () => client.listMessages({ ...input, pageSize: 100 })))
      return { counts: answers.map(({ messages }) => messages.length) }
    },
  }
  export const hooks = {}
`

/** Messages of a conversation, of which a page has three. */
const count = 100
const words = 'a'.repeat(300_000)

let platform: Platform
let bot: DeployedBot
let user: ChatUser
let conversationId: string
let botAsks: (method: string, path: string, body?: object) => Promise<Answer>
beforeAll(async () => {
  platform = await openPlatform()
  bot = await platform.createBot(walker)
  botAsks = (method, path, body) => platform.ask(method, path, body, { 'x-bot-id': bot.id })
  user = await createChatUser(bot.chatUrl)
  conversationId = await user.createConversation()
  const { body } = await user.send(conversationId, 'hi')
  await fill('messages', body.message.id, { payload: { text: words }, conversation_id: conversationId })
  await platform.context.db('messages').where({ id: body.message.id }).delete()
})
afterAll(() => platform[Symbol.asyncDispose]())

/** Stores copies of a row, each a second older than the one before. */
async function fill(table: string, id: string, changes: object, copies = count): Promise<void> {
  await platform.context.db.raw(
    `insert into ${table} select made.*
     from ${table} given, generate_series(1, :copies) copy, lateral jsonb_populate_record(given, :changes::jsonb || jsonb_build_object(
       'id', given.id || '_' || lpad(copy::text, 3, '0'), 'created_at', given.created_at - copy * interval '1 second'
     )) made
     where given.id = :id`,
    { id, changes: JSON.stringify(changes), copies },
  )
}

async function idsOf(table: string, where: object): Promise<string[]> {
  const rows: { id: string }[] = await platform.context
    .db(table)
    .where(where)
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .select('id')
  return rows.map(({ id }) => id)
}

interface Read {
  /** The ids of each page. */
  pages: string[][]
  bytes: number[]
}

/** Reads a list to its end. */
async function readAll(rows: string, path: string, ask: (path: string) => Promise<Answer>): Promise<Read> {
  const read: Read = { pages: [], bytes: [] }
  let nextToken: string | undefined
  do {
    const query = `pageSize=100${nextToken === undefined ? '' : `&nextToken=${nextToken}`}`
    const { status, body } = await ask(`${path}${path.includes('?') ? '&' : '?'}${query}`)
    expect(status).toBe(200)
    read.pages.push(body[rows].map(({ id }: { id: string }) => id))
    read.bytes.push(JSON.stringify(body).length)
    nextToken = body.meta.nextToken
  } while (nextToken !== undefined)
  return read
}

function expectBounded({ pages, bytes }: Read): void {
  expect(Math.max(...bytes)).toBeLessThan(1.05 * megabyte)
  expect(pages.length).toBe(Math.ceil(pages.flat().length / 3))
}

describe('a page of messages ends by its bytes, and the next pages have the others once and in order', () => {
  test('for a chat', async () => {
    const read = await readAll('messages', `/conversations/${conversationId}/messages`, (path) => user.ask('GET', path))
    expectBounded(read)
    expect(read.pages.flat()).toEqual(await idsOf('messages', { conversation_id: conversationId }))
  }, 60_000)

  test('for the published chat client and that of the console', async () => {
    const expected = await idsOf('messages', { conversation_id: conversationId })
    const published = await Client.connect({ apiUrl: bot.chatUrl, userKey: user.key })
    const ids = []
    for await (const { id } of published.list.messages({ conversationId })) ids.push(id)
    expect(ids).toEqual(expected)
    const own = await connectToChat(bot.chatUrl, user.key)
    const seen = []
    for await (const { id } of own.listMessages(conversationId)) seen.push(id)
    expect(seen).toEqual(expected)
  }, 60_000)

  test('for programs of the bot', async () => {
    const path = `/v1/chat/messages?conversationId=${conversationId}`
    const read = await readAll('messages', path, (query) => botAsks('GET', query))
    expectBounded(read)
    expect(read.pages.flat()).toEqual(await idsOf('messages', { conversation_id: conversationId }))
  }, 60_000)

  test('for code of the bot', async () => {
    const { status, body } = await botAsks('POST', '/v1/chat/actions', { type: 'walk', input: { conversationId } })
    expect(status).toBe(200)
    expect(body.output.pages.flat()).toEqual(await idsOf('messages', { conversation_id: conversationId }))
    const together = await botAsks('POST', '/v1/chat/actions', { type: 'together', input: { conversationId } })
    expect(together.body.output.counts).toEqual(Array.from({ length: 8 }, () => 3))
  }, 60_000)

  test('for members, who are shown none that is so large', async () => {
    const path = `/v1/admin/bots/${bot.id}/conversations/${conversationId}/messages`
    const { pages } = await readAll('messages', path, (query) => platform.ask('GET', query))
    expect(pages.flat()).toEqual(await idsOf('messages', { conversation_id: conversationId }))
  }, 60_000)

  test('for visitors of a web chat, also in the first frame of their conversation', async () => {
    const url = await installWebchat(platform, bot.id)
    const visitor = await visit(url)
    const { body } = await visitor.say({ type: 'text', text: 'hi' })
    await fill('messages', body.message.id, { payload: { text: words } })
    await platform.context.db('messages').where({ id: body.message.id }).delete()
    const expected = await idsOf('messages', { conversation_id: visitor.conversationId })
    const { init } = await visit(url, { key: visitor.key, conversationId: visitor.conversationId })
    expect(init.messages.map(({ id }: { id: string }) => id)).toEqual(expected.slice(0, 3))
    const path = `/conversations/${visitor.conversationId}/messages`
    const read = await readAll('messages', path, (query) => visitor.ask('GET', query))
    expectBounded(read)
    expect(read.pages.flat()).toEqual(expected)
    const after = await visitor.ask('GET', `${path}?pageSize=100&nextToken=${init.meta.nextToken}`)
    expect(after.body.messages[0].id).toBe(expected[3])
  }, 60_000)
})

test('a row that is larger than the bound is a page, and counts by its text and not by its stored bytes', async () => {
  const other = await user.createConversation()
  const { body } = await user.send(other, 'hi')
  // 309 digits each.
  const numbers = Array.from({ length: 4_000 }, () => 1e308)
  await fill('messages', body.message.id, { payload: { text: 'x', numbers } }, 3)
  const { pages } = await readAll('messages', `/conversations/${other}/messages`, (path) => user.ask('GET', path))
  expect(pages.map(({ length }) => length)).toEqual([1, 1, 1, 1])
  expect(pages.flat()).toEqual(await idsOf('messages', { conversation_id: other }))
}, 60_000)

test('a page of small rows has as many as were asked for', async () => {
  const other = await user.createConversation()
  const { body } = await user.send(other, 'hi')
  await fill('messages', body.message.id, { payload: { text: 'b'.repeat(9000) } }, 150)
  const { pages } = await readAll('messages', `/conversations/${other}/messages`, (path) => user.ask('GET', path))
  expect(pages.map(({ length }) => length)).toEqual([100, 51])
  expect(pages.flat()).toEqual(await idsOf('messages', { conversation_id: other }))
})

describe('a page ends by its bytes too in a list of', () => {
  test('events, for programs and for members', async () => {
    const { body } = await botAsks('POST', '/v1/chat/events', { type: 'kind', payload: {} })
    await expect
      .poll(async () => (await botAsks('GET', `/v1/chat/events/${body.event.id}`)).body.event.status)
      .not.toBe('pending')
    await fill('events', body.event.id, { payload: { words } })
    const expected = await idsOf('events', { bot_id: bot.id, type: 'kind' })
    const ofBot = await readAll('events', '/v1/chat/events?type=kind', (path) => botAsks('GET', path))
    expectBounded(ofBot)
    expect(ofBot.pages.flat()).toEqual(expected)
    const path = `/v1/admin/bots/${bot.id}/events?type=kind`
    const { pages } = await readAll('events', path, (query) => platform.ask('GET', query))
    expect(pages.flat()).toEqual(expected)
    expect(pages.length).toBeGreaterThan(count / 4)
  }, 60_000)

  test.each(['name=kind', 'tags.a=b'])(
    'workflows with %s',
    async (filter) => {
      const { db } = platform.context
      await db('workflows').where({ bot_id: bot.id }).delete()
      const { body } = await botAsks('POST', '/v1/chat/workflows', { name: 'kind', status: 'pending', input: {} })
      await fill('workflows', body.workflow.id, { input: { words }, tags: { a: 'b' } })
      await db('workflows')
        .where({ id: body.workflow.id })
        .update({ tags: { a: 'b' } })
      const read = await readAll('workflows', `/v1/chat/workflows?${filter}`, (path) => botAsks('GET', path))
      expectBounded(read)
      expect(read.pages.flat()).toEqual(await idsOf('workflows', { bot_id: bot.id }))
    },
    60_000,
  )

  // As many bytes as a row may have.
  const tags = { words: 'a'.repeat(390_000) }

  test('users, in both directions', async () => {
    const { body } = await botAsks('POST', '/v1/chat/users', { tags: {} })
    await fill('users', body.user.id, { tags }, 25)
    const expected = await idsOf('users', { bot_id: bot.id })
    for (const direction of ['asc', 'desc']) {
      const path = `/v1/chat/users?sortDirection=${direction}`
      const { pages, bytes } = await readAll('users', path, (query) => botAsks('GET', query))
      expect(Math.max(...bytes)).toBeLessThan(1.05 * megabyte)
      expect(pages.flat()).toEqual(direction === 'asc' ? expected.toReversed() : expected)
    }
  }, 60_000)

  test('conversations, for programs and in a chat', async () => {
    const owner = await createChatUser(bot.chatUrl)
    for (let index = 0; index < 25; index += 1) await owner.createConversation()
    await platform.context.db('conversations').where({ owner_id: owner.userId }).update({ tags })
    const ofBot = await readAll('conversations', '/v1/chat/conversations', (path) => botAsks('GET', path))
    expect(Math.max(...ofBot.bytes)).toBeLessThan(1.05 * megabyte)
    expect(ofBot.pages.flat()).toEqual(await idsOf('conversations', { bot_id: bot.id }))
    const owned = await readAll('conversations', '/conversations', (path) => owner.ask('GET', path))
    expect(owned.pages.map(({ length }) => length)).toEqual(
      Array.from({ length: 13 }, (_, index) => (index < 12 ? 2 : 1)),
    )
    expect(owned.pages.flat()).toEqual(await idsOf('conversations', { owner_id: owner.userId }))
  }, 60_000)

  test('tables, which clients that know no pages read to their end where they are not large', async () => {
    const schema = { type: 'object', properties: { n: { type: 'number' } } }
    const { body } = await botAsks('POST', '/v1/tables', { name: 'firstTable', schema })
    const { db } = platform.context
    const row = (await db('bot_tables').where({ id: body.table.id }).first())!
    const columns = JSON.stringify({ n: { ...row.columns['n'], description: words } })
    for (let index = 0; index < 9; index += 1) {
      const tags = JSON.stringify({ a: 'b' })
      await db('bot_tables').insert({ ...row, id: `${row.id}${index}`, name: `t${index}Table`, columns, tags } as never)
    }
    const expected = await idsOf('bot_tables', { bot_id: bot.id })
    const read = await readAll('tables', '/v1/tables', (path) => botAsks('GET', path))
    expect(Math.max(...read.bytes)).toBeLessThan(1.05 * megabyte)
    expect(read.pages.map(({ length }) => length)).toEqual([4, 3, 3])
    expect(read.pages.flat()).toEqual(expected.toReversed())
    const tagged = await readAll('tables', '/v1/tables?tags.a=b', (path) => botAsks('GET', path))
    expect(tagged.pages.flat()).toEqual(read.pages.flat().slice(1))
    await db('bot_tables')
      .whereNot({ id: row.id })
      .update({ columns: JSON.stringify(row.columns) } as never)
    expect((await botAsks('GET', '/v1/tables')).body).toMatchObject({ meta: {}, tables: { length: 10 } })
  }, 60_000)

  test('handovers, of a bot and of its workspace, in both directions', async () => {
    const { db } = platform.context
    await user.createConversation()
    const { id: storedId } = (await db('conversations')
      .where({ bot_id: bot.id })
      .orderBy('created_at', 'desc')
      .first('id'))!
    const { account } = (await platform.ask('GET', '/v1/admin/account/me')).body
    await db('accounts')
      .where({ id: account.id })
      .update({ picture_url: 'a'.repeat(40_000) })
    const handover = {
      id: 'handover',
      bot_id: bot.id,
      conversation_id: storedId,
      status: 'resolved',
      requested_by: 'bot',
    }
    await db('handovers').insert({
      ...handover,
      account_id: account.id,
      ended_at: new Date(),
      created_at: new Date(),
    } as never)
    await fill('handovers', 'handover', {})
    const expected = await idsOf('handovers', { bot_id: bot.id })
    const ofBot = await readAll('handovers', `/v1/admin/bots/${bot.id}/handovers`, (path) => platform.ask('GET', path))
    expect(Math.max(...ofBot.bytes)).toBeLessThan(1.1 * megabyte)
    expect(ofBot.pages.length).toBeGreaterThan(3)
    expect(ofBot.pages.flat()).toEqual(expected)
    const ids = async (path: string) => {
      const { status, body } = await platform.ask('GET', path)
      const handovers = body.handovers?.map((each: { handover: { id: string } }) => each.handover)
      return { status, body: { ...body, handovers }, headers: new Headers() }
    }
    const ended = await readAll('handovers', '/v1/admin/handovers?status=ended', ids)
    expect(Math.max(...ended.bytes)).toBeLessThan(1.1 * megabyte)
    expect(ended.pages.flat()).toEqual(expected)
    for (let index = 0; index < 40; index += 1) await user.createConversation()
    await db.raw(
      `insert into handovers (id, bot_id, conversation_id, status, requested_by, account_id)
       select 'open' || id, bot_id, id, 'assigned', 'bot', :accountId from conversations where bot_id = :botId
       order by created_at desc limit 40`,
      { accountId: account.id, botId: bot.id },
    )
    const open = await readAll('handovers', '/v1/admin/handovers?status=open', ids)
    expect(Math.max(...open.bytes)).toBeLessThan(1.1 * megabyte)
    expect(open.pages).toHaveLength(2)
    expect(open.pages.flat()).toHaveLength(40)
    expect(new Set(open.pages.flat()).size).toBe(40)
  }, 60_000)

  test('files, in each order', async () => {
    const metadata = { words: 'a'.repeat(390_000) }
    const keys = Array.from({ length: 25 }, (_, index) => `file${index}`)
    for (const key of keys) await botAsks('PUT', '/v1/files', { key, size: 1, metadata })
    for (const order of ['sortField=createdAt', 'sortField=key&sortDirection=asc', 'sortField=size']) {
      const { pages, bytes } = await readAll('files', `/v1/files?${order}`, (path) => botAsks('GET', path))
      expect(Math.max(...bytes)).toBeLessThan(1.05 * megabyte)
      expect(pages.map(({ length }) => length)).toEqual(Array.from({ length: 13 }, (_, index) => (index < 12 ? 2 : 1)))
      expect(new Set(pages.flat()).size).toBe(25)
    }
  }, 60_000)
})

test('pages that their clients do not read are counted: further large ones are refused, small ones are not', async () => {
  const large = await user.createConversation()
  const { body } = await user.send(large, 'hi')
  // More than the buffers of two sockets take: 10 MB by Linux' defaults.
  await platform.context
    .db('messages')
    .where({ id: body.message.id })
    .update({ payload: { text: 'a'.repeat(16 * megabyte) } })
  const path = new URL(`${bot.chatUrl}/conversations/${large}/messages?pageSize=100`)
  const request = `GET ${path.pathname}${path.search} HTTP/1.1\r\nHost: ${path.host}\r\nx-user-key: ${user.key}\r\n\r\n`
  await using sockets = new AsyncDisposableStack()
  for (let index = 0; index < 20; index += 1) {
    const socket = connect(Number(path.port), path.hostname)
    sockets.defer(() => void socket.destroy())
    socket.on('error', () => {})
    socket.pause()
    socket.write(request)
  }
  const small = await user.createConversation()
  const list = (query: string, id = large) => user.ask('GET', `/conversations/${id}/messages?${query}`)
  let refused = await list('pageSize=100')
  await expect.poll(async () => (refused = await list('pageSize=100')).status, { timeout: 30_000 }).toBe(503)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect((await list('pageSize=100', small)).status).toBe(200)
  expect((await user.ask('GET', '/users/me')).status).toBe(200)
  await sockets.disposeAsync()
  await expect.poll(async () => (await list('pageSize=100')).status, { timeout: 30_000 }).toBe(200)
}, 60_000)

test('a list of a visitor’s conversations has large last messages in full as far as its bytes go', async () => {
  const url = await installWebchat(platform, bot.id)
  const { key } = await visit(url)
  const opened = []
  for (let index = 0; index < 5; index += 1) {
    const visitor = await visit(url, { key })
    await visitor.say({ type: 'text', text: `${index} ${'a'.repeat(megabyte / 3)}` })
    opened.unshift(visitor.conversationId)
  }
  const visitor = await visit(url, { key, conversationId: opened[0]! })
  const { status, body } = await visitor.ask('GET', '/conversations')
  expect(status).toBe(200)
  const shown = body.conversations.filter(({ lastMessage }: { lastMessage?: object }) => lastMessage)
  expect(shown.map(({ id }: { id: string }) => id)).toEqual(opened)
  const texts: string[] = shown.map(
    ({ lastMessage }: { lastMessage: { payload: { text: string } } }) => lastMessage.payload.text,
  )
  expect(texts.map((text) => text.slice(0, 3))).toEqual(['4 a', '3 a', '2 a', '1 a', '0 a'])
  expect(texts.map(({ length }) => length > 200)).toEqual([true, true, false, false, false])
}, 60_000)

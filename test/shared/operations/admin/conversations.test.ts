import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { searchConversations } from '#shared/store/conversation-search.ts'
import { createChatUser, type ChatUser } from '../../../support/chat-client.ts'
import { installCode } from '../../../support/install-code.ts'
import { createMember } from '../../../support/members.ts'
import { endedEvents } from '../../../support/outcomes.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../../support/platform.ts'

const code = `export const hooks = {
  async afterIncomingMessage({ event, client }) {
    const { conversationId, userId } = event
    if (event.preview === 'break') throw new Error('no answer today')
    await client.setState({ type: 'user', id: userId, name: 'basket', payload: { items: 2 } })
    await client.createMessage({ conversationId, type: 'text', payload: { text: 'You said: ' + event.preview } })
  },
}`
const deaf = 'export function register() {}'

let platform: Platform
let bot: DeployedBot
let ada: ChatUser
let first: string
let second: string

const ask = (path: string, headers?: Record<string, string>) =>
  platform.ask('GET', `/v1/admin/bots/${bot.id}/conversations${path}`, undefined, headers)

async function answerTo(path: string) {
  const { status, body } = await ask(path)
  expect({ status, body }).toMatchObject({ status: 200 })
  // oxlint-disable-next-line typescript/no-unsafe-return -- Tests assert single fields.
  return body
}

const found = async (query: Record<string, string>) => {
  const { conversations } = await answerTo(`?${new URLSearchParams(query).toString()}`)
  return conversations.map(({ id }: { id: string }) => id)
}

/** The audit records of readings, newest first. */
const records = () =>
  platform.context.db('audit_records').where('operation', 'like', '%BotConversation%').orderBy('id', 'desc')

beforeAll(async () => {
  platform = await openPlatform()
  bot = await platform.createBot(code)
  ada = await createChatUser(bot.chatUrl, { name: 'Ada Lovelace', pictureUrl: 'https://example.com/ada.png' })
  const ben = await createChatUser(bot.chatUrl, { name: 'Ben "); drop' })
  first = await ada.createConversation()
  second = await ben.createConversation()
  await ada.send(first, 'Where is my "Größe 40" order?')
  await ben.send(second, 'break')
  await endedEvents(platform, bot.id, 2)
  await ada.send(first, 'thanks 100%')
  await endedEvents(platform, bot.id, 3)
  await platform.ask('PUT', `/v1/chat/conversations/${first}`, { tags: { team: 'returns' } }, { 'x-bot-id': bot.id })
})
afterAll(() => platform[Symbol.asyncDispose]())

describe('the list of a bot’s conversations', () => {
  test('has those with the newest message first, with what was said last', async () => {
    const { conversations, meta } = await answerTo('')
    expect(meta).toEqual({})
    expect(conversations).toMatchObject([
      {
        id: first,
        channel: 'channel',
        integration: 'chat',
        tags: { team: 'returns' },
        messageCount: 4,
        user: { id: ada.userId, name: 'Ada Lovelace' },
        message: { direction: 'outgoing', preview: 'You said: thanks 100%' },
      },
      { id: second, messageCount: 1, message: { direction: 'incoming', preview: 'break' } },
    ])
  })

  test('is searched by users, texts, tags, channels and times, and each character of a text is itself', async () => {
    expect(await found({ userId: ada.userId })).toEqual([first])
    expect(await found({ userName: 'lovel' })).toEqual([first])
    expect(await found({ userName: '"); drop' })).toEqual([second])
    expect(await found({ text: 'my "größe' })).toEqual([first])
    expect(await found({ text: '100%' })).toEqual([first])
    for (const text of ['1%', 'o_der', 'text', '\\']) expect([text, await found({ text })]).toEqual([text, []])
    expect(await found({ tagKey: 'team' })).toEqual([first])
    expect(await found({ tagKey: 'team', tagValue: 'sales' })).toEqual([])
    expect(await found({ integration: 'chat', channel: 'channel' })).toEqual([first, second])
    expect(await found({ integration: 'none' })).toEqual([])
    expect(await found({ timeEnd: '2020-01-01T00:00:00.000Z' })).toEqual([])
    expect(await found({ userId: ada.userId, text: 'order', timeStart: '2020-01-01T00:00:00.000Z' })).toEqual([first])
    expect(await ask('?tagValue=sales')).toMatchObject({ status: 400, body: { type: 'InvalidQuery' } })
    const { conversations } = await answerTo('?text=order')
    expect(conversations[0].message).toMatchObject({ preview: expect.stringContaining('order') })
  })

  test('is the same page by page, each conversation once, where one has most of the messages', async () => {
    const { db } = platform.context
    const other = await platform.createBot()
    const user = await createChatUser(other.chatUrl)
    const ids: string[] = []
    for (let index = 0; index < 5; index++) ids.push(await user.createConversation())
    const [quiet, ...others] = ids
    // More messages than a step of the search reads, the oldest of which are those of the quiet conversation.
    await db.raw(
      `insert into messages (id, bot_id, conversation_id, user_id, type, payload, direction, created_at, updated_at)
       select 'msg_' || bot_id || n, bot_id, id, ?, 'text', jsonb_build_object('text', 'number ' || n), 'incoming', at, at
       from (values (?, 0, 3), (?, 4, 900), (?, 901, 903), (?, 904, 2000), (?, 2001, 2003)) as given (conversation, low, high)
       join conversations on id = conversation, generate_series(low, high) n,
         lateral (select timestamptz '2026-01-01' + n * interval '1 second' as at) moment`,
      [user.userId, quiet!, ...others],
    )
    for (const query of ['', '&text=number', `&userId=${user.userId}`]) {
      const seen: string[] = []
      let token = ''
      do {
        const page = await platform.ask('GET', `/v1/admin/bots/${other.id}/conversations?pageSize=2${token}${query}`)
        seen.push(...page.body.conversations.map(({ id }: { id: string }) => id))
        token = page.body.meta.nextToken ? `&nextToken=${page.body.meta.nextToken}` : ''
      } while (token)
      const once = query.includes('text') ? [...new Set(seen)] : seen
      expect([query, once]).toEqual([query, ids.toReversed()])
    }
  })
})

test('a page reads as many messages as it has conversations, however many one of them has', async () => {
  const { db } = platform.context
  const other = await platform.createBot()
  const user = await createChatUser(other.chatUrl)
  const ids: string[] = []
  for (let index = 0; index < 4; index++) {
    ids.unshift(await user.createConversation())
    await user.send(ids[0]!, `number ${index}`)
  }
  const transaction = await db.transaction()
  try {
    await transaction.raw(
      `insert into messages (id, bot_id, conversation_id, user_id, type, payload, direction, created_at, updated_at)
       select 'msg_' || bot_id || n, bot_id, id, ?, 'text', '{}', 'incoming', at, at
       from conversations, generate_series(1, 20000) n, lateral (select now() + n * interval '1 millisecond' as at) moment
       where id = ?`,
      [user.userId, ids[0]!],
    )
    await transaction.raw('analyze messages')
    const countRead = async () => {
      const { rows } = await transaction.raw<{ rows: { read: number }[] }>(
        `select (seq_tup_read + idx_tup_fetch)::integer as read from pg_stat_xact_user_tables where relname = 'messages'`,
      )
      return rows[0]!.read
    }
    const before = await countRead()
    const { rows } = await searchConversations(transaction, other.id, {}, { limit: 20 })
    expect(rows.map(({ id, message_count: count }) => [id, count])).toEqual([
      [ids[0], 1000],
      [ids[1], 1],
      [ids[2], 1],
      [ids[3], 1],
    ])
    // The messages of the first one are counted.
    expect((await countRead()) - before).toBeLessThan(1100)
  } finally {
    await transaction.rollback()
  }
})

test('a message moves its conversation to the top, and a change of the conversation does not', async () => {
  const other = await platform.createBot()
  const user = await createChatUser(other.chatUrl)
  const [one, two] = [await user.createConversation(), await user.createConversation()]
  await user.send(one, 'first')
  await user.send(two, 'second')
  const asBot = { 'x-bot-id': other.id }
  const listed = async (query = '') => {
    const { body } = await platform.ask('GET', `/v1/admin/bots/${other.id}/conversations${query}`)
    return body.conversations.map(({ id }: { id: string }) => id)
  }
  await platform.ask('PUT', `/v1/chat/conversations/${one}`, { tags: { team: 'returns' } }, asBot)
  expect(await listed()).toEqual([two, one])
  const message = { conversationId: one, userId: other.id, type: 'text', payload: { text: 'third' }, tags: {} }
  await platform.ask('POST', '/v1/chat/messages', message, asBot)
  expect(await listed()).toEqual([one, two])
  expect(await listed('?channel=channel&timeStart=2020-01-01T00:00:00.000Z')).toEqual([one, two])
  const { created_at: at } = (await platform.context.db('messages').where({ conversation_id: two }).first())!
  const later = new Date(at.getTime() + 1).toISOString()
  expect(await listed(`?timeStart=${later}`)).toEqual([one])
})

describe('a transcript', () => {
  test('has both sides with their authors, and the events that handled the messages', async () => {
    const { messages, meta } = await answerTo(`/${first}/messages?pageSize=2`)
    expect(messages).toMatchObject([
      {
        direction: 'outgoing',
        author: { kind: 'bot', id: bot.id },
        payload: { type: 'text', text: 'You said: thanks 100%' },
      },
      { direction: 'incoming', author: { kind: 'user', id: ada.userId, name: 'Ada Lovelace' } },
    ])
    expect(messages[0]).not.toHaveProperty('event')
    const { event } = messages[1]
    const { body } = await platform.ask('GET', `/v1/admin/bots/${bot.id}/events/${event.id}`)
    expect(body.event).toMatchObject({ type: 'message_created', messageId: messages[1].id, status: 'processed' })
    const older = await answerTo(`/${first}/messages?pageSize=2&nextToken=${meta.nextToken}`)
    expect(older.meta).toEqual({})
    expect(older.messages).toHaveLength(2)
    const failed = await answerTo(`/${second}/messages`)
    expect(failed.messages[0].event).toMatchObject({
      status: 'failed',
      failureReason: expect.stringContaining('no answer today'),
    })
  })

  test('has its participants with their tags, the states of the bot’s code alone, and the position in flows', async () => {
    const { db } = platform.context
    const { id } = (await db('installations').where({ bot_id: bot.id }).first())!
    const state = { bot_id: bot.id, type: 'conversation' as const, owner_id: first, payload: { token: 'credential' } }
    await db('states').insert({ ...state, id: newId('state'), name: 'login', installation_id: id })
    await db('states').insert({ ...state, id: newId('state'), name: 'large', payload: { text: 'x'.repeat(100_000) } })
    const frames = [{ flow: 'main', node: 'name', card: 'ask', waits: { for: 'answer', until: null } }]
    await db('states').insert({
      ...state,
      id: newId('state'),
      name: '$flow',
      payload: { position: { version: 'botver_1', frames } },
    })
    const body = await answerTo(`/${first}`)
    expect(body.participants).toMatchObject([{ id: ada.userId, pictureUrl: 'https://example.com/ada.png', tags: {} }])
    expect(body.flowPosition).toMatchObject({ flow: 'main', node: 'name', waitsFor: 'answer' })
    expect(JSON.stringify(body)).not.toContain('credential')
    expect(body.states).toMatchObject([
      { type: 'conversation', name: 'large' },
      { type: 'user', name: 'basket', ownerId: ada.userId, payload: { items: 2 } },
    ])
    expect(body.states[0]).not.toHaveProperty('payload')
  })

  test('shows a delivery that failed, with its reason', async () => {
    const other = await platform.createBot(code)
    const installed = await installCode(platform, other.id, deaf)
    const asBot = { 'x-bot-id': other.id }
    const conversation = { channel: 'channel', integrationName: installed.alias, tags: {} }
    const { body } = await platform.ask('POST', '/v1/chat/conversations', conversation, asBot)
    const conversationId = body.conversation.id
    const message = { conversationId, userId: other.id, type: 'text', payload: { text: 'hello' }, tags: {} }
    await platform.ask('POST', '/v1/chat/messages', message, asBot)
    const path = `/v1/admin/bots/${other.id}/conversations/${conversationId}/messages`
    await expect
      .poll(async () => (await platform.ask('GET', path)).body.messages[0].event, { timeout: 30_000 })
      .toMatchObject({ status: 'failed', failureReason: expect.stringMatching(/./) })
  })

  test('leaves large payloads out', async () => {
    const { db } = platform.context
    const id = await ada.createConversation()
    const at = new Date()
    await db('messages').insert({
      bot_id: bot.id,
      conversation_id: id,
      user_id: ada.userId,
      type: 'text',
      direction: 'incoming',
      id: newId('msg'),
      payload: { text: 'x'.repeat(900_000) },
      created_at: at,
      updated_at: at,
    })
    const { messages } = await answerTo(`/${id}/messages`)
    expect(messages).toMatchObject([{ type: 'text' }])
    expect(messages[0]).not.toHaveProperty('payload')
  })
})

describe('access', () => {
  test('viewers and other workspaces may not, and another bot’s conversation does not exist', async () => {
    const viewer = await createMember(platform, 'viewer', platform.workspaceId)
    const stranger = await createMember(platform, 'owner')
    const other = await platform.createBot()
    for (const path of ['', `/${first}`, `/${first}/messages`]) {
      expect([path, (await ask(path, viewer)).status]).toEqual([path, 403])
      expect([path, (await ask(path, stranger)).status]).toEqual([path, 404])
      if (path === '') continue
      const elsewhere = await platform.ask('GET', `/v1/admin/bots/${other.id}/conversations${path}`)
      expect(elsewhere.status).toBe(404)
    }
  })

  test('each opening is one audit record, and pages and news of it are none', async () => {
    const before = (await records()).length
    const { reading } = await answerTo(`/${first}`)
    await answerTo(`/${first}/messages?reading=${reading}`)
    await answerTo(`/${first}/messages?reading=${reading}&pageSize=1`)
    const after = await records()
    expect(after).toHaveLength(before + 1)
    expect(after[0]).toMatchObject({
      id: reading,
      operation: 'getBotConversation',
      resource_id: first,
      outcome: 'done',
    })
    const path = `/v1/admin/workspaces/${platform.workspaceId}/audit-records?operation=getBotConversation&pageSize=1`
    const { body } = await platform.ask('GET', path)
    expect(body.records).toMatchObject([{ id: reading, resourceId: first, action: 'UNKNOWN' }])
    // The record does not have the words, which may be what a user said; another search is another reading all the same.
    const listed = await answerTo('?text=unmistakable')
    await answerTo(`?text=unmistakable&reading=${listed.reading}`)
    expect(await records()).toHaveLength(before + 2)
    const other = await answerTo(`?text=elsewhere&reading=${listed.reading}`)
    await answerTo(`?text=elsewhere&reading=${other.reading}&pageSize=1`)
    expect(await records()).toHaveLength(before + 3)
    expect(JSON.stringify(await records())).not.toContain('unmistakable')
  })

  test('a reading covers neither another conversation, nor other fields, nor another member', async () => {
    const { reading } = await answerTo(`/${first}`)
    const listed = await answerTo('')
    const developer = await createMember(platform, 'developer', platform.workspaceId)
    const before = (await records()).length
    await answerTo(`/${second}/messages?reading=${reading}`)
    await answerTo(`?text=order&reading=${listed.reading}`)
    await ask(`/${first}/messages?reading=${reading}`, developer)
    await answerTo(`/${first}/messages?reading=none`)
    const old = new Date(Date.now() - 13 * 3600 * 1000)
    await platform.context.db('audit_records').where({ id: reading }).update({ created_at: old })
    await answerTo(`/${first}/messages?reading=${reading}`)
    expect(await records()).toHaveLength(before + 5)
  })

  test('a reading that is refused leaves no record', async () => {
    const before = (await records()).length
    await ask('/conv_none')
    expect(await records()).toHaveLength(before)
  })
})

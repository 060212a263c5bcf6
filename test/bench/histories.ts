import { Client } from 'pg'
import { openConversation } from './conversation.ts'
import { echoBot, startBots } from './isobot.ts'
import { round, table } from './report.ts'
import type { Servers } from './servers.ts'
import { percentile } from './statistics.ts'
import type { Chat, SystemOptions } from './system.ts'

const messages = 100_000
const users = 1_000_000
const conversations = 50_000
/** Requests of each kind. */
const requests = 60
/** A kind of request that takes longer has fewer of them. */
const longestMilliseconds = 5000
const pageSize = 20
/** The largest p95 of a page, in milliseconds. */
const target = 20
/** Entries that a resumed stream has missed. */
const missed = 50

export interface HistoryMeasure {
  name: string
  /** Milliseconds, sorted. */
  times: number[]
  target?: number
}

interface Page {
  meta: { nextToken?: string }
  /** Of lists whose readings are recorded: further pages that name it belong to the same reading. */
  reading?: string
}

/** Measures lists, streams and replies of a bot with large histories, one request at a time. */
export async function measureHistories(servers: Servers): Promise<HistoryMeasure[]> {
  await using parts = new AsyncDisposableStack()
  const options: SystemOptions = { servers, backEnd: 'postgres', conversations: 0, nodeOptions: [], parts }
  const bots = [
    { code: echoBot(), conversations: 3 },
    { code: echoBot(), conversations: 2 },
  ]
  const host = await startBots('histories', bots, options)
  const { id: botId, chatUrl, chats } = host.bots[0]!
  const [long, short, many] = chats as [Chat, Chat, Chat]
  const [busy, quiet] = host.bots[1]!.chats as [Chat, Chat]
  const ownerId = await fill(host.databaseUrl, long, many, [busy, quiet])
  await servers.postgres.settle(host.databaseUrl)

  const asUser = async (path: string, key: string): Promise<Page> => {
    const response = await fetch(`${chatUrl}/${path}`, { headers: { 'x-user-key': key } })
    if (response.status !== 200) throw new Error(`GET ${path} gave ${response.status}: ${await response.text()}`)
    return (await response.json()) as Page
  }
  const asBot = (path: string) => host.get<Page>(`/v1/${path}`, botId)
  const inLong = `conversationId=${long.conversationId}`
  const admin = `admin/bots/${botId}`
  const lists: Record<string, { get: (query: string) => Promise<Page>; rows: number; isAscending?: boolean }> = {
    'chat: listMessages of the conversation': {
      get: (query) => asUser(`conversations/${long.conversationId}/messages?${query}`, long.key),
      rows: messages,
    },
    'chat: listConversations of the user': {
      get: (query) => asUser(`conversations?${query}`, many.key),
      rows: conversations,
    },
    'bot: listMessages of the conversation': {
      get: (query) => asBot(`chat/messages?${inLong}&${query}`),
      rows: messages,
    },
    'bot: listMessages': { get: (query) => asBot(`chat/messages?${query}`), rows: messages },
    'bot: listConversations of 2 messages or more': {
      get: (query) => asBot(`chat/conversations?minMessageCount=2&${query}`),
      rows: conversations,
    },
    'bot: listEvents': { get: (query) => asBot(`chat/events?${query}`), rows: 0 },
    'bot: listUsers': { get: (query) => asBot(`chat/users?${query}`), rows: users },
    'bot: listUsers, by updatedAt': { get: (query) => asBot(`chat/users?sortField=updatedAt&${query}`), rows: users },
    'bot: listUsers, by a tag that one has': {
      get: (query) => asBot(`chat/users?tags.number=77777&${query}`),
      rows: 0,
    },
    'bot: listConversations': { get: (query) => asBot(`chat/conversations?${query}`), rows: conversations },
    'bot: listConversations, by updatedAt': {
      get: (query) => asBot(`chat/conversations?sortField=updatedAt&${query}`),
      rows: conversations,
    },
    'bot: listConversations of the user': {
      get: (query) => asBot(`chat/conversations?participantIds=${ownerId}&${query}`),
      rows: conversations,
    },
    'admin: listBotConversations': {
      get: (query) => host.get(`/v1/${admin}/conversations?${query}`, botId),
      rows: conversations,
    },
    'admin: listBotConversations, one of which has the newest messages': {
      get: (query) => host.get(`/v1/admin/bots/${host.bots[1]!.id}/conversations?${query}`, botId),
      rows: 0,
    },
    'admin: listBotConversationMessages': {
      get: (query) => host.get(`/v1/${admin}/conversations/${long.conversationId}/messages?${query}`, botId),
      rows: messages,
    },
    'admin: listBotEvents': { get: (query) => host.get(`/v1/${admin}/events?${query}`, botId), rows: 0 },
  }

  console.error('The rows are stored')
  const measures: HistoryMeasure[] = []
  for (const [name, { get, rows }] of Object.entries(lists)) {
    measures.push({ name, target, times: await time(() => get('')) })
    if (rows === 0) continue
    const { reading } = await get('')
    const further = reading === undefined ? '' : `&reading=${reading}`
    const times = await time((index) => get(`${amid(rows, index)}${further}`))
    measures.push({ name: `${name}, amid`, target, times })
  }
  measures.push({
    name: 'bot: getConversation',
    target,
    times: await time(() => asBot(`chat/conversations/${long.conversationId}`)),
  })
  measures.push({
    name: `a stream that resumes after ${missed} entries`,
    target,
    times: await time(() => resume(chatUrl, long)),
  })
  for (const [name, chat] of [
    ['an empty', short],
    ['the long', long],
  ] as const) {
    const { say } = await openConversation(chatUrl, chat)
    await time(say)
    measures.push({ name: `a reply in ${name} conversation`, times: await time(say) })
  }
  return measures
}

/** One line on the rows. */
export function describeHistories(): string {
  return (
    `${messages} messages in a conversation, ${users} users, ${conversations} conversations of one user with ` +
    `${shortMessages} messages each, another bot with ${messages} newer messages in one of its ${quietConversations} ` +
    `conversations, pages of ${pageSize}, ${requests} requests each, one at a time, on the PostgreSQL back end`
  )
}

/** Makes the Markdown table of the times. */
export function historiesTable(measures: HistoryMeasure[]): string {
  return table(
    ['large histories', 'p50 ms', 'p95 ms', 'slowest ms', 'target, p95'],
    measures.map(({ name, times, target: most }) => [
      name,
      round(percentile(times, 50)),
      round(percentile(times, 95)),
      round(times.at(-1)!),
      most === undefined ? '' : `≤ ${most}`,
    ]),
  )
}

/** Conversations of the bot one of whose conversations has all of the newest messages. */
const quietConversations = 1000

/** Messages of each of the user's conversations. They lie between those of the long one. */
const shortMessages = 2

/** Rows are a second apart, the newest is of the start. */
const second = 1000
const newest = Date.UTC(2026, 0, 1)

/** The query of a page that begins amid the rows. */
function amid(rows: number, index: number): string {
  const createdAt = newest - Math.floor((((index * 7919) % requests) / requests) * 0.9 * rows) * second
  return `nextToken=${Buffer.from(`${createdAt} zzzz`).toString('base64url')}`
}

async function time(act: (index: number) => Promise<unknown>): Promise<number[]> {
  // The first ones open connections and prepare statements.
  for (let index = 0; index < 4; index++) await act(index)
  const times: number[] = []
  const end = performance.now() + longestMilliseconds
  for (let index = 0; index < requests; index++) {
    const begin = performance.now()
    if (begin > end && index >= 5) break
    await act(index)
    times.push(performance.now() - begin)
  }
  return times.toSorted((a, b) => a - b)
}

/** Opens a stream and reads what it has missed. */
async function resume(chatUrl: string, { conversationId, key }: Chat): Promise<void> {
  const stop = new AbortController()
  const response = await fetch(`${chatUrl}/conversations/${conversationId}/listen`, {
    headers: { 'x-user-key': key, 'last-event-id': String(newest - missed * second) },
    signal: stop.signal,
  })
  let frames = 0
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    frames += part.split('data: ').length - 1
    if (frames >= missed) break
  }
  stop.abort()
}

/** SQL for an id of the platform's shape, from a number. */
function id(prefix: string, name: string): string {
  return `'${prefix}_0' || upper(lpad(to_hex(${name}), 25, '0'))`
}

/** SQL for a time that many seconds before the newest. */
function at(seconds: string): string {
  return `to_timestamp(${newest / second}) - (${seconds}) * interval '1 second'`
}

/** Stores the rows. @returns the user of the many conversations */
async function fill(databaseUrl: string, long: Chat, many: Chat, [busy, quiet]: [Chat, Chat]): Promise<string> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    // Checks of foreign keys would take most of the time.
    await client.query('set session_replication_role = replica')
    await client.query(
      `insert into users (id, bot_id, installation_id, tags, created_at, updated_at)
       select ${id('user', 'n')}, bot_id, installation_id, case when n % 10 = 7 then jsonb_build_object('number', n::text) else '{}' end, ${at('n')}, ${at('n')}
       from generate_series(1, ${users}) n, conversations where id = $1`,
      [long.conversationId],
    )
    for (const { conversationId } of [long, busy]) await fillLong(client, conversationId)
    const ownerId = await fillShort(client, many, { from: 1, count: conversations, after: 0 })
    // Each has messages before the first one of the busy conversation.
    await fillShort(client, quiet, { from: 1 + conversations, count: quietConversations, after: messages })
    await client.query(
      `update conversations set messaged_at = moment.newest
       from (select conversation_id, max(created_at) as newest from messages group by conversation_id) moment
       where conversation_id = id`,
    )
    return ownerId
  } finally {
    await client.end()
  }
}

/** Stores the messages of a long conversation. */
async function fillLong(client: Client, conversationId: string): Promise<void> {
  await client.query(
    `insert into messages (id, bot_id, conversation_id, user_id, type, payload, direction, created_at, updated_at)
     select 'msg_' || substr(id, 6, 16) || lpad(n::text, 10, '0'), bot_id, id, owner_id, 'text',
       '{"text": "A message of a long conversation"}', 'incoming', ${at('n')}, ${at('n')}
     from generate_series(0, ${messages - 1}) n, conversations where id = $1`,
    [conversationId],
  )
  await client.query('update conversations set sequence = $2, clock = $3 where id = $1', [
    conversationId,
    messages,
    new Date(newest),
  ])
}

interface Short {
  /** The number of the first conversation. */
  from: number
  count: number
  /** The seconds from the newest message to the first of these conversations. */
  after: number
}

/** Stores conversations of the owner of another one, with their messages. @returns the owner */
async function fillShort(client: Client, { conversationId }: Chat, { from, count, after }: Short): Promise<string> {
  const { rows } = await client.query<{ owner_id: string }>(
    `with made as (
       insert into conversations (id, bot_id, installation_id, owner_id, channel, created_at, updated_at)
       select ${id('conv', 'n')}, bot_id, installation_id, owner_id, channel, ${at(`${after} + n - ${from} + 1`)}, ${at(`${after} + n - ${from} + 1`)}
       from generate_series(${from}, ${from + count - 1}) n, conversations where id = $1
       returning id, owner_id, bot_id
     ), joined as (
       insert into participants (conversation_id, user_id, bot_id) select id, owner_id, bot_id from made
     )
     select owner_id from conversations where id = $1`,
    [conversationId],
  )
  await client.query(
    `insert into messages (id, bot_id, conversation_id, user_id, type, payload, direction, created_at, updated_at)
     select ${id('msg', `${shortMessages * from} + n`)}, bot_id, ${id('conv', `${from} + n % ${count}`)}, owner_id, 'text',
       '{"text": "A message of a short conversation"}', 'incoming', ${at(`${after} + n`)}, ${at(`${after} + n`)}
     from generate_series(0, ${shortMessages * count - 1}) n, conversations where id = $1`,
    [conversationId],
  )
  return rows[0]!.owner_id
}

import { maxCounted, maxPayloadBytes, type ListedConversationRow } from '../models/transcript.ts'
import { query, type Database } from './database.ts'
import type { Cursor, PageRequest } from './pagination.ts'
import { withinTime } from './table-queries.ts'

/** Selects conversations of a bot. */
export interface ConversationSearch {
  /** Only conversations of this participant. */
  userId?: string | undefined
  /** Only conversations with a participant whose name has this text. */
  userName?: string | undefined
  /** Only conversations with a message that has this text, in a value of its payload. */
  text?: string | undefined
  /** Only conversations that have this tag, or a participant who has it. */
  tagKey?: string | undefined
  tagValue?: string | undefined
  /** The integration's name or alias. */
  integration?: string | undefined
  channel?: string | undefined
  /** ISO 8601, of messages; both ends are inclusive. */
  timeStart?: string | undefined
  timeEnd?: string | undefined
}

export interface FoundConversations {
  rows: ListedConversationRow[]
  /** The last position that was read; undefined when all messages were read. */
  end?: Cursor
}

/** The messages that the first statement of a page reads, and the most that a statement reads. */
const firstStep = 500
const maxStep = 16_000
/** Upper bound of the messages or conversations that a page reads. */
export const maxRead = 200_000
/** A page that has taken this long ends with what it has found. */
const pageMilliseconds = 1500

const remedy = 'narrow the search by timeStart and timeEnd, or by userId'

/**
 * A page of a bot's conversations, in the order of their newest messages. They are read in that order (docs/decisions/0120).
 * Those of some messages are found by reading the messages from the newest one on, by their index, so that no message costs
 * a further index when it is written (docs/decisions/0077). Both read in steps, a bounded number of rows for a bounded time:
 * a page may have few conversations or none, and the next one continues at `end`.
 *
 * @throws ApiError `LimitExceeded` when one step takes too long
 */
export async function searchConversations(
  db: Database,
  botId: string,
  search: ConversationSearch,
  { limit, after }: PageRequest,
): Promise<FoundConversations> {
  const work = async (transaction: Database): Promise<FoundConversations> => {
    const begin = performance.now()
    const found = new Map<string, Head>()
    let position = after
    const read = ofMessages(search) ? readMessages : readConversations
    // Some conversations have no messages.
    let step = ofMessages(search) ? firstStep : 2 * limit
    for (let total = 0; total < maxRead && performance.now() < begin + pageMilliseconds;) {
      const started = performance.now()
      const { heads, last, looked } = await readStep(transaction, { botId, search, step, position, read })
      for (const head of heads) {
        if (found.has(head.conversation_id)) continue
        if (found.size === limit) return listed(transaction, botId, found, endOf(found))
        found.set(head.conversation_id, head)
      }
      if (!last || looked < step) return listed(transaction, botId, found)
      position = { createdAt: last.created_at, id: last.id }
      total += looked
      if (performance.now() < started + 100) step = Math.min(maxStep, step * 4)
    }
    return listed(transaction, botId, found, position)
  }
  const isFiltered = Object.values(search).some((filter) => filter !== undefined)
  return isFiltered ? withinTime(db, work, remedy) : work(db)
}

/** A found conversation, with its position in the order that was read. */
interface Head {
  conversation_id: string
  /** The message that is shown: the newest one, or the newest with the text. */
  message_id: string
  id: string
  created_at: Date
}

/** Whether a message other than the newest may find a conversation, or few conversations of the bot are read. */
function ofMessages({ userId, text, timeEnd }: ConversationSearch): boolean {
  return [userId, text, timeEnd].some((filter) => filter !== undefined)
}

function endOf(found: Map<string, Head>): Cursor {
  const last = [...found.values()].at(-1)!
  return { createdAt: last.created_at, id: last.id }
}

interface Step {
  botId: string
  search: ConversationSearch
  /** The number of rows to read. */
  step: number
  position: Cursor | undefined
  read: (search: ConversationSearch, position: Cursor | undefined) => string
}

async function readStep(db: Database, { botId, search, step, position, read }: Step) {
  const rows = await query<Head & { looked: number; is_found: boolean }>(db, read(search, position), {
    botId,
    step,
    afterTime: position?.createdAt ?? null,
    afterId: position?.id ?? null,
    timeStart: search.timeStart === undefined ? null : new Date(search.timeStart),
    timeEnd: search.timeEnd === undefined ? null : new Date(search.timeEnd),
    userId: search.userId ?? null,
    userName: search.userName ?? null,
    words: search.text ?? null,
    jsonWords: search.text === undefined ? null : JSON.stringify(search.text).slice(1, -1),
    tagKey: search.tagKey ?? null,
    tagValue: search.tagValue ?? null,
    integration: search.integration ?? null,
    channel: search.channel ?? null,
  })
  const last = rows.find((row) => !row.is_found)
  return { heads: rows.filter((row) => row.is_found), last, looked: last?.looked ?? 0 }
}

/**
 * SQL for the next conversations with messages, and the last one that was read. The index has the ten minutes of their
 * newest messages, those of which are sorted.
 */
function readConversations(search: ConversationSearch, position: Cursor | undefined): string {
  const range = all([
    position && 'messaged_in <= :afterTime and (messaged_at, id) < (:afterTime, :afterId)',
    search.timeStart !== undefined &&
      `messaged_in >= :timeStart::timestamptz - interval '10 minutes' and messaged_at >= :timeStart`,
  ])
  return `with looked as materialized (
      select * from conversations where bot_id = :botId and ${range}
      order by messaged_in desc, messaged_at desc, id desc limit :step
    ), found as (
      select conversations.id as conversation_id, newest.id as message_id, conversations.id, messaged_at as created_at
      from looked as conversations join installations on installations.id = installation_id, lateral (
        select id from messages
        where conversation_id = conversations.id ${search.timeStart === undefined ? '' : 'and created_at >= :timeStart'}
        order by created_at desc, id desc limit 1
      ) newest
      where ${passing(search)}
    ), last as (
      select id as conversation_id, id, messaged_at as created_at from looked order by messaged_at, id limit 1
    )
    ${foundAndLast}`
}

const foundAndLast = `
  select conversation_id, message_id, id, created_at, 0 as looked, true as is_found from found
  union all
  select conversation_id, null, id, created_at, (select count(*) from looked)::integer, false from last
  order by created_at desc, id desc`

/** SQL for whether a conversation passes the filters that do not concern messages. */
function passing({ userName, tagKey, tagValue, integration, channel }: ConversationSearch): string {
  return all([
    userName !== undefined && `exists (${participants} and strpos(lower(name), lower(:userName)) > 0)`,
    tagKey !== undefined &&
      `(${hasTag('conversations', tagValue)} or exists (${participants} and ${hasTag('users', tagValue)}))`,
    integration !== undefined && ':integration in (integration, alias)',
    channel !== undefined && 'channel = :channel',
  ])
}

/** SQL for the conversations that the next messages find, and the last message that was read. */
function readMessages(search: ConversationSearch, position: Cursor | undefined): string {
  const { userId, text, timeStart, timeEnd } = search
  const range = all([
    position && '(messages.created_at, messages.id) < (:afterTime, :afterId)',
    timeStart !== undefined && 'messages.created_at >= :timeStart',
    timeEnd !== undefined && 'messages.created_at <= :timeEnd',
  ])
  const columns = `messages.id, messages.conversation_id, messages.created_at, ${text === undefined ? 'true' : hasText} as passes`
  const order = 'order by created_at desc, id desc'
  // The messages of one user are read by the index of their conversations.
  const source =
    userId === undefined
      ? `select ${columns} from messages where bot_id = :botId and ${range} ${order} limit :step`
      : `select read.* from participants, lateral (
           select ${columns} from messages
           where conversation_id = participants.conversation_id and bot_id = :botId and ${range} ${order}
           limit ${text === undefined ? 1 : ':step'}
         ) read
         where participants.user_id = :userId and participants.bot_id = :botId
         order by read.created_at desc, read.id desc limit :step`
  const passes = all([
    // A conversation with a newer message is on an earlier page. Found by their texts, conversations have several heads.
    text === undefined && position && `not exists (select from messages as newer where ${isNewer(timeEnd)})`,
    passing(search),
  ])
  return `with looked as materialized (${source}), heads as (
      select distinct on (conversation_id) conversation_id, id, created_at from looked where passes
      order by conversation_id, created_at desc, id desc
    ), found as (
      select conversation_id, heads.id as message_id, heads.id, heads.created_at from heads
      join conversations on conversations.id = conversation_id and conversations.bot_id = :botId
      join installations on installations.id = installation_id
      where ${passes}
    ), last as (
      select conversation_id, id, created_at from looked order by created_at, id limit 1
    )
    ${foundAndLast}`
}

/** In a value, and not in the name of a field. The text of the whole payload rules out most messages at less cost. */
const hasText = `(
  case when strpos(lower(messages.payload::text), lower(:jsonWords)) > 0 then exists (
    select from jsonb_path_query(messages.payload, 'strict $.**') as value
    where jsonb_typeof(value) in ('string', 'number') and strpos(lower(value #>> '{}'), lower(:words)) > 0
  ) else false end
)`

function isNewer(timeEnd: string | undefined): string {
  return `newer.conversation_id = heads.conversation_id and newer.bot_id = :botId
    and (newer.created_at, newer.id) >= (:afterTime, :afterId)
    ${timeEnd === undefined ? '' : 'and newer.created_at <= :timeEnd'}`
}

const participants = `select from participants join users on users.id = participants.user_id
  where participants.conversation_id = conversations.id and users.bot_id = :botId`

function hasTag(table: 'conversations' | 'users', value: string | undefined): string {
  return value === undefined ? `jsonb_exists(${table}.tags, :tagKey)` : `${table}.tags ->> :tagKey = :tagValue`
}

function all(conditions: (string | false | undefined)[]): string {
  return conditions.filter(Boolean).join(' and ') || 'true'
}

/** SQL for a payload that is not large. The stored size, which needs no decompression, is compared first. */
export function boundedPayload(of: string): string {
  return `case when pg_column_size(${of}.payload) > ${maxPayloadBytes} then null
    when octet_length(${of}.payload::text) > ${maxPayloadBytes} then null else ${of}.payload end`
}

/**
 * SQL for the number of a conversation's messages, up to a bound. The order keeps the planner to the index: where one
 * conversation has most of the messages, it would scan the table for each of the others.
 */
export const boundedCount = `(
  select count(*) from (
    select from messages where conversation_id = conversations.id order by created_at desc, id desc limit ${maxCounted}
  ) counted
)::integer as message_count`

/** The rows that a page shows, in the order of the messages by which they were found. */
async function listed(
  db: Database,
  botId: string,
  found: Map<string, Head>,
  end?: Cursor,
): Promise<FoundConversations> {
  if (found.size === 0) return { rows: [], ...(end && { end }) }
  const rows = await query<ListedConversationRow>(
    db,
    `select conversations.*, integration, alias, ${boundedCount},
       messages.id as message_id, messages.direction as message_direction, messages.type as message_type,
       messages.user_id as message_author,
       exists (select from member_messages where message_id = messages.id) as message_is_members,
       messages.created_at as message_at, ${boundedPayload('messages')} as message_payload,
       person.id as user_id, person.name as user_name
     from (select * from messages where id = any(:ids::text[]) offset 0) messages
     join conversations on conversations.id = messages.conversation_id
     join installations on installations.id = conversations.installation_id
     left join lateral (
       select users.id, users.name from participants join users on users.id = participants.user_id
       where participants.conversation_id = conversations.id and users.bot_id = :botId
       order by users.id is not distinct from conversations.owner_id desc, participants.created_at, users.id limit 1
     ) person on true
     where messages.bot_id = :botId
     order by array_position(:ids::text[], messages.id)`,
    { botId, ids: [...found.values()].map(({ message_id: id }) => id) },
  )
  return { rows, ...(end && { end }) }
}

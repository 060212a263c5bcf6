import { maxUnread, type HandoverQuery, type ListedHandoverView } from '../models/handover.ts'
import type { HandoverRow } from '../models/tables.ts'
import { query, type Database } from './database.ts'
import { boundedPayload } from './conversation-search.ts'
import { handoverView } from './find-handovers.ts'
import { endedByBytes, type PageEnd } from './page-bytes.ts'
import { page, toPage, type Page, type PageRequest } from './pagination.ts'
import { withinTime } from './table-queries.ts'

/** Selects handovers; `reader` is the account whose unread messages are counted. */
export interface HandoverSearch extends HandoverQuery {
  reader: string
}

/** Messages that are looked at for the unread ones of a handover: those of the bot and of members are among them. */
const maxLooked = 500

/** One page of a bot's handovers, newest first. */
export async function pageOfHandovers(
  db: Database,
  { botId, ...search }: HandoverSearch & { botId: string },
  request: PageRequest,
): Promise<Page<ListedHandoverView>> {
  const rows: HandoverPosition[] = await withinTime(
    db,
    (transaction) =>
      transaction('handovers')
        .select('id', 'created_at')
        .where({ bot_id: botId })
        .modify(select, search)
        .modify((builder) => page(builder, request)),
    remedy,
  )
  return pageOfViews(db, toPage(rows, request, positionOf), request, search.reader)
}

/** One page of the handovers in the bots of a workspace: the oldest first where all are in progress, else the newest. */
export async function pageOfWorkspaceHandovers(
  db: Database,
  { workspaceId, botId, ...search }: HandoverSearch & { workspaceId: string; botId?: string | undefined },
  paging: PageRequest,
): Promise<Page<ListedHandoverView & { bot_name: string }>> {
  const request = { ...paging, ascending: isOpen(search) }
  const rows: (HandoverPosition & { bot_name: string })[] = await withinTime(
    db,
    (transaction) => {
      // Each bot's first rows come from its index; those of a whole workspace would have to be sorted.
      const ofBot = transaction('handovers')
        .select('id', 'created_at')
        .whereRaw('bot_id = bots.id')
        .modify(select, search)
        .modify((builder) => page(builder, request))
      return transaction('bots')
        .crossJoin(transaction.raw('lateral (?) as handover', [ofBot]))
        .select('handover.id', 'handover.created_at', 'bots.name as bot_name')
        .where({ workspace_id: workspaceId, ...(botId !== undefined && { 'bots.id': botId }) })
        .modify((builder) => page(builder, request, 'handover.created_at', 'handover.id'))
    },
    remedy,
  )
  const names = new Map(rows.map((row) => [row.id, row.bot_name]))
  const found = await pageOfViews(db, toPage(rows, request, positionOf), request, search.reader)
  return { ...found, rows: found.rows.map((row) => ({ ...row, bot_name: names.get(row.id)! })) }
}

type HandoverPosition = Pick<HandoverRow, 'id' | 'created_at'>

const remedy = 'narrow the search by timeStart and timeEnd'

function positionOf(row: HandoverPosition) {
  return { createdAt: row.created_at, id: row.id }
}

function isOpen({ status }: HandoverQuery): boolean {
  return status === 'open' || status === 'pending' || status === 'assigned'
}

/** Restricts a query of handovers. */
function select(builder: Parameters<typeof page>[0], search: HandoverSearch): void {
  const { status, memberId, conversationId, text, timeStart, timeEnd } = search
  // The open ones have an index, for there may be many that have ended.
  if (isOpen(search)) void builder.whereNull('ended_at')
  else if (status !== 'all') void builder.whereNotNull('ended_at')
  if (status !== 'open' && status !== 'ended' && status !== 'all') void builder.where({ status })
  if (memberId !== undefined) void builder.where({ account_id: memberId })
  if (conversationId !== undefined) void builder.where({ conversation_id: conversationId })
  if (timeStart !== undefined) void builder.where('created_at', '>=', new Date(timeStart))
  if (timeEnd !== undefined) void builder.where('created_at', '<=', new Date(timeEnd))
  if (text !== undefined) void builder.whereRaw(hasText, [text, text, text, text, text, text])
}

/**
 * The names of users are looked up only where the handover itself does not have the text. By `exists`, PostgreSQL would read all
 * users for each bot.
 */
const hasText = `(
  strpos(lower(title), lower(?)) > 0 or strpos(lower(description), lower(?)) > 0
  or handovers.id = ? or handovers.conversation_id = ? or coalesce((
    select strpos(lower(users.name), lower(?)) > 0 or users.id = ?
    from conversations join users on users.id = conversations.owner_id
    where conversations.id = handovers.conversation_id
  ), false)
)`

/** The direction of the user's messages. In a conversation of the inbox a plugin writes for the user. */
const usersDirection = `case requested_by when 'integration' then 'outgoing' else 'incoming' end`

/** SQL for the messages of a handover's user that a member has not read. */
const unread = `case when ended_at is null then (
    select least(count(*), ${maxUnread}) from (
      select direction from messages
      where messages.conversation_id = handovers.conversation_id and messages.created_at > coalesce(
        (select read_at from handover_reads where handover_id = handovers.id and account_id = :reader), handovers.created_at
      )
      order by messages.created_at desc, messages.id desc limit ${maxLooked}
    ) newest
    where direction = ${usersDirection}
  ) else 0 end`

/** The columns of views that may be large. Members have pictures of up to 40,000 characters, which each handover repeats. */
const largeOfViews = ['listed.last_payload', 'to_jsonb(listed.description)', 'to_jsonb(listed.account_picture_url)']

/** A page of handovers with the names of their members and users, and what the reader may see of them. */
async function pageOfViews(
  db: Database,
  found: Page<HandoverPosition>,
  request: PageRequest,
  reader: string,
): Promise<Page<ListedHandoverView>> {
  const ids = found.rows.map(({ id }) => id)
  const views = await query<ListedHandoverView & PageEnd>(
    db,
    endedByBytes(
      `select handover.*, unread_count, last.* from (${handoverView} where handovers.id = any(:ids)) handover
       cross join lateral (
         select (${unread})::integer as unread_count from handovers where handovers.id = handover.id
       ) counted
       left join lateral (
         select type as last_type, ${boundedPayload('messages')} as last_payload, created_at as last_at,
           direction = ${usersDirection} as last_is_from_user
         from messages where conversation_id = handover.conversation_id order by created_at desc, id desc limit 1
       ) last on handover.account_id = :reader and handover.ended_at is null`,
      largeOfViews,
      { ascending: request.ascending },
    ),
    { ids, reader },
  )
  return { ...found, ...toPage(views, request, positionOf) }
}

/**
 * Records that a member has read the messages of a handover's conversation up to one of them, or all. An earlier message
 * than before changes nothing.
 *
 * @returns false when the bot has no such handover, or the conversation no such message
 */
export async function markRead(
  db: Database,
  given: { botId: string; id: string; accountId: string; messageId?: string | undefined },
): Promise<boolean> {
  const rows = await query(
    db,
    `insert into handover_reads as present (handover_id, account_id, read_at)
     select handovers.id, :accountId, coalesce(message.created_at, handovers.created_at)
     from handovers left join lateral (
       select created_at from messages
       where messages.conversation_id = handovers.conversation_id and (:messageId::text is null or messages.id = :messageId)
       order by created_at desc, messages.id desc limit 1
     ) message on true
     where handovers.id = :id and handovers.bot_id = :botId
       and (:messageId::text is null or message.created_at is not null)
     on conflict (handover_id, account_id) do update set read_at = greatest(present.read_at, excluded.read_at)
     returning handover_id`,
    { ...given, messageId: given.messageId ?? null },
  )
  return rows.length === 1
}

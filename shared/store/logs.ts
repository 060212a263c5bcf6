import { page, toPage, type Page, type PageRequest } from './pagination.ts'
import type { Database } from './database.ts'
import { seenAt } from './log-snapshot.ts'
import type { LogRow } from '../models/tables.ts'
import type { DescribedLogRow } from '../models/log-line.ts'

/** Adds a line to a bot's log. */
export async function insertLog(
  db: Database,
  line: { botId: string; conversationId?: string; level: LogRow['level']; message: string },
): Promise<void> {
  await db('logs').insert({
    bot_id: line.botId,
    conversation_id: line.conversationId ?? null,
    level: line.level,
    message: line.message,
    created_at: db.fn.now(3),
  })
}

/** Selects lines of a bot's log. */
export interface LogFilter {
  /** ISO 8601; both ends are inclusive. */
  timeStart: string
  timeEnd?: string | undefined
  level?: LogRow['level'] | undefined
  /** Lines of any of these levels. */
  levels?: readonly LogRow['level'][] | undefined
  eventId?: string | undefined
  conversationId?: string | undefined
  userId?: string | undefined
  workflowId?: string | undefined
  /** Text within the line, ignoring case. */
  messageContains?: string | undefined
  /** Lines that were visible at this snapshot (`log-tail.ts`). */
  seenAt?: string | undefined
}

/** One page of a bot's log, newest lines first unless the request says otherwise. */
export async function pageOfLogs(
  db: Database,
  botId: string,
  filter: LogFilter,
  request: PageRequest,
): Promise<Page<DescribedLogRow>> {
  const {
    timeStart,
    timeEnd,
    level,
    levels,
    seenAt: snapshot,
    eventId,
    conversationId,
    userId,
    workflowId,
    messageContains,
  } = filter
  const rows: DescribedLogRow[] = await db<DescribedLogRow, DescribedLogRow[]>('logs')
    .leftJoin('events', 'events.id', 'logs.event_id')
    .where('logs.bot_id', botId)
    .where('logs.created_at', '>=', new Date(timeStart))
    .modify((builder) => {
      if (timeEnd !== undefined) void builder.where('logs.created_at', '<=', new Date(timeEnd))
      if (level !== undefined) void builder.where({ level })
      if (levels !== undefined) void builder.whereIn('level', levels)
      if (eventId !== undefined) void builder.where('logs.event_id', eventId)
      if (conversationId !== undefined) void builder.where('logs.conversation_id', conversationId)
      if (userId !== undefined) void builder.where('events.user_id', userId)
      if (workflowId !== undefined) void builder.where('events.workflow_id', workflowId)
      if (messageContains !== undefined) {
        void builder.whereRaw('strpos(lower(logs.message), lower(?)) > 0', [messageContains])
      }
      if (snapshot !== undefined) void builder.whereRaw(seenAt('?'), [snapshot])
      page(builder, request, 'logs.created_at', 'logs.id')
    })
    .select('logs.*', 'events.user_id', 'events.workflow_id')
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}

import type { Knex } from 'knex'
import { boundedPage } from './bounded-page.ts'
import { page, toPage, type Page, type PageRequest } from './pagination.ts'
import type { Database } from './database.ts'
import { seenAt } from './log-snapshot.ts'
import type { LogRow } from '../models/tables.ts'
import type { DescribedLogRow } from '../models/log-line.ts'

/** Adds a line to a bot's log, and to that of an integration, if the line is about an installed one. */
export async function insertLog(
  db: Database,
  line: {
    botId: string
    conversationId?: string
    installationId?: string | undefined
    level: LogRow['level']
    message: string
  },
): Promise<void> {
  const { botId, installationId } = line
  const installed = db('installations').where({ bot_id: botId, id: installationId ?? '' })
  await db('logs').insert({
    bot_id: botId,
    integration_id: installationId === undefined ? null : db.raw('?', [installed.select('integration_id')]),
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

/**
 * One page of a bot's log, newest lines first unless the request says otherwise. With a filter by anything but the event and
 * the time, it reads a bounded number of lines: it may have few, and still a token.
 */
export async function pageOfLogs(
  db: Database,
  botId: string,
  filter: LogFilter,
  request: PageRequest,
): Promise<Page<DescribedLogRow>> {
  return boundedPage(
    db,
    {
      table: 'logs',
      parts: [(lines) => void lines.where('logs.bot_id', botId).modify(ofTime, filter)],
      passing: (lines) => void lines.modify(selected, filter),
    },
    request,
  )
}

/** One page of the lines that an integration's code wrote on bots of a workspace; otherwise as `pageOfLogs`. */
export async function pageOfIntegrationLogs(
  db: Database,
  { workspaceId, integrationId }: { workspaceId: string; integrationId: string },
  filter: LogFilter,
  request: PageRequest,
): Promise<Page<DescribedLogRow>> {
  // The lines of each bot are in the order of an index, and those of other workspaces' bots are not read.
  const ofBot = linesOf(db, filter, request)
    .where('logs.integration_id', integrationId)
    .whereRaw('logs.bot_id = own.id')
  // The position of the page is a condition within each bot.
  const { after: _after, ...first } = request
  const own = db('bots').where({ workspace_id: workspaceId }).select('id')
  const rows: DescribedLogRow[] = await db
    .from(db.raw('? as own cross join lateral ? as line', [own, ofBot]))
    .modify((builder) => page(builder, first, 'line.created_at', 'line.id'))
    .select('line.*')
  return toLogPage(rows, request)
}

/** The first lines of a log that a page may have. */
function linesOf(db: Database, filter: LogFilter, request: PageRequest) {
  return db<DescribedLogRow, DescribedLogRow[]>('logs')
    .modify(ofTime, filter)
    .modify(selected, filter)
    .modify((lines) => page(lines, request, 'logs.created_at', 'logs.id'))
    .select('logs.*')
}

function ofTime(lines: Knex.QueryBuilder, { timeStart, timeEnd, eventId, seenAt: snapshot }: LogFilter): void {
  void lines.where('logs.created_at', '>=', new Date(timeStart))
  if (timeEnd !== undefined) void lines.where('logs.created_at', '<=', new Date(timeEnd))
  if (eventId !== undefined) void lines.where('logs.event_id', eventId)
  if (snapshot !== undefined) void lines.whereRaw(seenAt('?'), [snapshot])
}

function selected(lines: Knex.QueryBuilder, filter: LogFilter): void {
  const { level, levels, conversationId, userId, workflowId, messageContains } = filter
  void lines.leftJoin('events', 'events.id', 'logs.event_id').select('events.user_id', 'events.workflow_id')
  if (level !== undefined) void lines.where({ level })
  if (levels !== undefined) void lines.whereIn('level', levels)
  if (conversationId !== undefined) void lines.where('logs.conversation_id', conversationId)
  if (userId !== undefined) void lines.where('events.user_id', userId)
  if (workflowId !== undefined) void lines.where('events.workflow_id', workflowId)
  if (messageContains !== undefined) {
    void lines.whereRaw('strpos(lower(logs.message), lower(?)) > 0', [messageContains])
  }
}

function toLogPage(rows: DescribedLogRow[], request: PageRequest): Page<DescribedLogRow> {
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}

import { page, toPage, type Page, type PageRequest } from './pagination.ts'
import { query, type Database } from './database.ts'
import { disabledReason } from './disabled-code.ts'
import type { BotHealthRow, WaitingRow } from '../models/bot-health.ts'

/** Each subquery uses an index: a bot's last event is looked up without a scan. */
const columns = `bots.id, bots.name, bots.version_id, bots.created_at,
  ${disabledReason('bots.id', 'bots.version_id')} as disabled_reason,
  (select created_at from events where events.bot_id = bots.id order by created_at desc, id desc limit 1) as last_event_at`

/** One page of a workspace's bots in production, newest first. */
export async function pageOfBotHealth(
  db: Database,
  workspaceId: string,
  request: PageRequest,
): Promise<Page<BotHealthRow>> {
  const rows: BotHealthRow[] = await db('bots')
    .where({ workspace_id: workspaceId })
    .modify((builder) => page(builder, request, 'bots.created_at', 'bots.id'))
    .select(db.raw(columns))
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}

export async function findBotHealth(db: Database, workspaceId: string, id: string): Promise<BotHealthRow | undefined> {
  const [row] = await query<BotHealthRow>(
    db,
    `select ${columns} from bots where workspace_id = :workspaceId and id = :id`,
    { workspaceId, id },
  )
  return row
}

/**
 * The waiting events of each bot, by its id; bots without any are absent. Reads all events that wait or are scheduled.
 */
export async function waitingByBot(db: Database): Promise<Map<string, WaitingRow>> {
  const rows = await query<WaitingRow>(
    db,
    `select bot_id, count(*) filter (where is_due)::integer as waiting,
       min(available_at) filter (where is_due) as oldest_at,
       count(*) filter (where not is_due and not is_scheduled)::integer as retrying,
       count(*) filter (where is_scheduled)::integer as scheduled
     from (
       select bot_id, available_at, available_at <= now() as is_due, false as is_scheduled
       from events where status = 'pending'
       union all select bot_id, available_at, false, true from events where status = 'scheduled'
     ) open group by bot_id`,
    {},
  )
  return new Map(rows.map((row) => [row.bot_id, row]))
}

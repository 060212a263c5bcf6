import type { BotUsageType, Month, UsageType } from '../models/usage.ts'
import { query, type Database } from './database.ts'

/** Counts of one bot, as scalar subqueries. */
const ofBot: Record<BotUsageType, string> = {
  invocation_calls: `select count(*) from events
    where events.bot_id = bots.id and events.created_at >= :from and events.created_at < :until`,
  storage_count: 'select bytes from file_usage where file_usage.bot_id = bots.id',
  table_row_count: 'select sum(row_count) from bot_tables where bot_tables.bot_id = bots.id',
  indexed_file_count: `select count(*) from files where files.bot_id = bots.id and status = 'indexing_completed'`,
  knowledgebase_vector_storage: 'select sum(bytes) from passages where passages.bot_id = bots.id',
}

const ofWorkspace: Record<Exclude<UsageType, BotUsageType>, string> = {
  bot_count: 'select count(*) from bots where workspace_id = :workspaceId',
  workspace_member_count: 'select count(*) from members where workspace_id = :workspaceId and accepted_at is not null',
  integrations_owned_count: 'select count(distinct name) from integrations where workspace_id = :workspaceId',
}

/**
 * Counts the usage of the bots of a workspace, or of one of them.
 *
 * @param month of the calls; the other counts are those of the present moment
 */
export async function countOfBots(
  db: Database,
  { workspaceId, botId }: { workspaceId: string; botId?: string | undefined },
  type: BotUsageType,
  { from, until }: Month,
): Promise<{ botId: string; value: number }[]> {
  const rows = await query<{ id: string; value: string }>(
    db,
    `select id, coalesce((${ofBot[type]}), 0) as value from bots
     where workspace_id = :workspaceId ${botId === undefined ? '' : 'and id = :botId'} order by created_at, id`,
    { workspaceId, botId: botId ?? null, from, until },
  )
  return rows.map(({ id, value }) => ({ botId: id, value: Number(value) }))
}

/** Counts what only a workspace has. */
export async function countOfWorkspace(
  db: Database,
  workspaceId: string,
  type: Exclude<UsageType, BotUsageType>,
): Promise<number> {
  const [row] = await query<{ value: string }>(db, `select (${ofWorkspace[type]}) as value`, { workspaceId })
  return Number(row!.value)
}

import { query, type Database } from './database.ts'

/** Upper bound of the failed events counted per bot. */
const maxCounted = 10_000

/** The number of events of a workspace's bots that failed finally within the last day. */
export async function failedOfToday(db: Database, workspaceId: string): Promise<number> {
  const [row] = await query<{ failed: number }>(
    db,
    `select coalesce(sum(counted.count), 0)::integer as failed from bots, lateral (
       select count(*) from (
         select from events
         where events.bot_id = bots.id and status = 'failed' and ended_at > now() - interval '1 day'
         order by ended_at desc limit ${maxCounted}
       ) newest
     ) counted where bots.workspace_id = :workspaceId`,
    { workspaceId },
  )
  return row!.failed
}

/** The names of those of the given bots that a workspace owns, by id. */
export async function ownNames(db: Database, workspaceId: string, botIds: string[]): Promise<Map<string, string>> {
  const rows = await query<{ id: string; name: string }>(
    db,
    'select id, name from bots where workspace_id = :workspaceId and id = any(:botIds::text[])',
    { workspaceId, botIds },
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}

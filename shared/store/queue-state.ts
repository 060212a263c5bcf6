import { query, type Database } from './database.ts'

/** Failed events of one bot are counted up to so many. */
const mostCounted = 10_000

/**
 * How many events of a workspace's bots wait for a later time, and how many failed for good within the last day. It reads
 * all events that are scheduled.
 */
export async function queueState(db: Database, workspaceId: string): Promise<{ scheduled: number; failed: number }> {
  const [row] = await query<{ scheduled: number; failed: number }>(
    db,
    `with own as materialized (select id from bots where workspace_id = :workspaceId)
     select
       (
         select count(*)::integer from events where status = 'scheduled' and bot_id in (select id from own)
       ) as scheduled,
       (
         select coalesce(sum(counted.count), 0)::integer from own, lateral (
           select count(*) from (
             select from events
             where events.bot_id = own.id and status = 'failed' and ended_at > now() - interval '1 day'
             order by ended_at desc limit ${mostCounted}
           ) newest
         ) counted
       ) as failed`,
    { workspaceId },
  )
  return row!
}

/** The names of those of some bots that are a workspace's, by their ids. */
export async function ownNames(db: Database, workspaceId: string, botIds: string[]): Promise<Map<string, string>> {
  const rows = await query<{ id: string; name: string }>(
    db,
    'select id, name from bots where workspace_id = :workspaceId and id = any(:botIds::text[])',
    { workspaceId, botIds },
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}

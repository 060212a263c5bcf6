import { query, type Database } from './database.ts'

/** The events of all bots that have not ended. */
export interface Backlog {
  /** Events that are due and not started. */
  waiting: number
  /** Age of the oldest event that is due and not started. */
  oldestSeconds: number
  /** Events that have started and not ended. */
  begun: number
  /** All events ever inserted, by the statistics of PostgreSQL: only differences of this number are meaningful. */
  stored: number
  /** The clock of the database, in milliseconds since 1970. */
  now: number
}

/** Counts the waiting events. Reads all events that have not ended. */
export async function readBacklog(db: Database): Promise<Backlog> {
  const [row] = await query<Backlog>(
    db,
    `select count(*) filter (where is_waiting)::integer as waiting,
       coalesce(extract(epoch from now() - min(available_at) filter (where is_waiting)), 0)::double precision as "oldestSeconds",
       count(*) filter (where not is_waiting and started_at is not null)::integer as begun,
       (select n_tup_ins from pg_stat_user_tables where relid = 'events'::regclass)::double precision as stored,
       (extract(epoch from clock_timestamp()) * 1000)::double precision as now
     from (
       select available_at, started_at,
         available_at <= now() and (started_at is null or started_at < available_at) as is_waiting
       from events where status = 'pending'
     ) pending`,
    {},
  )
  return row!
}

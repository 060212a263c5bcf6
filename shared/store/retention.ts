import { query, type Database } from './database.ts'

/** How far a sweep has come: at which row it goes on, and whether there is more to look at. */
export interface Progress<Place> {
  /** Undefined at the end: the next look begins anew. */
  place: Place | undefined
  deleted: number
}

/**
 * Deletes the oldest lines of logs, of which it looks at so many. Lines are numbered in the order in which they were
 * stored: no index by their time has to be kept for this.
 *
 * @returns how many there were to delete
 */
export async function deleteOldLogs(db: Database, milliseconds: number, limit: number): Promise<number> {
  const [row] = await query<{ deleted: number }>(
    db,
    `with oldest as (select id, created_at from logs order by id limit :limit),
     deleted as (
       delete from logs using oldest
       where logs.id = oldest.id and oldest.created_at < now() - :milliseconds::double precision * interval '1 millisecond'
       returning logs.id
     )
     select count(*)::integer as deleted from deleted`,
    { milliseconds, limit },
  )
  return row?.deleted ?? 0
}

/**
 * Deletes the oldest records of administrative actions, of which it looks at so many; their ids are in the order of time.
 *
 * @returns how many there were to delete
 */
export async function deleteOldAuditRecords(db: Database, milliseconds: number, limit: number): Promise<number> {
  const [row] = await query<{ deleted: number }>(
    db,
    `with oldest as (select id, created_at from audit_records order by id limit :limit),
     deleted as (
       delete from audit_records records using oldest
       where records.id = oldest.id
         and oldest.created_at < now() - :milliseconds::double precision * interval '1 millisecond'
       returning records.id
     )
     select count(*)::integer as deleted from deleted`,
    { milliseconds, limit },
  )
  return row?.deleted ?? 0
}

/** A place among the journals' entries, which are in the order of their events' ids. */
export interface JournalPlace {
  event_id: string
  operation: string
  ordinal: number
}

/**
 * Deletes the journals of finished events. An event that was handled has no further use for its own after a day; one that
 * failed may be replayed for longer.
 *
 * @param from where to begin; the look goes over at most `limit` entries from there on, and up to events made at `until`
 * @param until an id: what events since a moment come after
 */
export async function deleteOldJournals(
  db: Database,
  options: { from: JournalPlace | undefined; until: string; failedMilliseconds: number; limit: number },
): Promise<Progress<JournalPlace>> {
  const { from, until, failedMilliseconds, limit } = options
  const [row] = await query<JournalPlace & { looked: number; deleted: number }>(
    db,
    `with looked as (
       select event_id, operation, ordinal from effects
       where (event_id, operation, ordinal) > (:eventId, :operation, :ordinal) and event_id < :until
       order by event_id, operation, ordinal limit :limit
     ), deleted as (
       delete from effects using looked, events
       where effects.event_id = looked.event_id and effects.operation = looked.operation
         and effects.ordinal = looked.ordinal and events.id = looked.event_id
         and events.ended_at < case when status = 'failed'
           then now() - :failedMilliseconds::double precision * interval '1 millisecond'
           else now() - interval '1 day' end
       returning effects.event_id
     )
     select looked.*, (select count(*)::integer from looked) as looked,
       (select count(*)::integer from deleted) as deleted
     from looked order by event_id desc, operation desc, ordinal desc limit 1`,
    {
      eventId: from?.event_id ?? '',
      operation: from?.operation ?? '',
      ordinal: from?.ordinal ?? 0,
      until,
      failedMilliseconds,
      limit,
    },
  )
  if (!row) return { place: undefined, deleted: 0 }
  const { looked, deleted, ...place } = row
  return { place: looked < limit ? undefined : place, deleted }
}

/**
 * Deletes versions of bots, but for the one in service and the newest ones of each bot.
 *
 * @param from the id to go on after; the look goes over at most `limit` versions, up to those made at `until`
 */
export async function deleteOldVersions(
  db: Database,
  { from, until, kept, limit }: { from: string | undefined; until: string; kept: number; limit: number },
): Promise<Progress<string>> {
  const [row] = await query<{ last: string | null; looked: number; deleted: number }>(
    db,
    `with looked as (
       select id, bot_id from bot_versions where id > :from and id < :until order by id limit :limit
     ), deleted as (
       delete from bot_versions using looked, bots
       where bot_versions.id = looked.id and bots.id = looked.bot_id and bots.version_id is distinct from looked.id
         and (
           select count(*) from (
             select from bot_versions newer where newer.bot_id = looked.bot_id and newer.id > looked.id limit :kept
           ) newest
         ) = :kept
       returning looked.id
     )
     select (select max(id) from looked) as last, (select count(*)::integer from looked) as looked,
       (select count(*)::integer from deleted) as deleted`,
    { from: from ?? '', until, kept, limit },
  )
  const { last, looked, deleted } = row!
  return { place: looked < limit ? undefined : (last ?? undefined), deleted }
}

/** Does something that only one process is to do at a time. Undefined when another one is at it. */
export async function alone<Result>(
  db: Database,
  what: string,
  act: (transaction: Database) => Promise<Result>,
): Promise<Result | undefined> {
  return db.transaction(async (transaction) => {
    const [row] = await query<{ mine: boolean }>(
      transaction,
      'select pg_try_advisory_xact_lock(hashtextextended(:what, 0)) as mine',
      { what },
    )
    return row?.mine ? act(transaction) : undefined
  })
}

import { query, type Database } from './database.ts'

/** The progress of a sweep over a table. */
export interface Progress<Cursor> {
  /** The row to continue at; undefined at the end, when the next call starts over. */
  cursor: Cursor | undefined
  deleted: number
}

/**
 * Deletes the oldest log lines. Checks `limit` lines in order of their ids, which is about that of time, so no index by
 * time is needed.
 *
 * @returns the number of deleted lines
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
 * Deletes the oldest audit records. Checks `limit` records in order of their ids, which is that of time.
 *
 * @returns the number of deleted records
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

/** A position among the journal entries, which are ordered by event id. */
export interface JournalCursor {
  event_id: string
  operation: string
  ordinal: number
}

/**
 * Deletes the journals of finished events: those of handled events after a day, those of failed ones later, since these
 * may be replayed.
 *
 * @param from where to begin; the call scans at most `limit` entries from there on, up to events made at `until`
 * @param until a lower bound of the ids of events since a moment
 */
export async function deleteOldJournals(
  db: Database,
  options: { from: JournalCursor | undefined; until: string; failedMilliseconds: number; limit: number },
): Promise<Progress<JournalCursor>> {
  const { from, until, failedMilliseconds, limit } = options
  const [row] = await query<JournalCursor & { looked: number; deleted: number }>(
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
  if (!row) return { cursor: undefined, deleted: 0 }
  const { looked, deleted, ...cursor } = row
  return { cursor: looked < limit ? undefined : cursor, deleted }
}

/**
 * Deletes versions of bots, except the deployed one and the newest ones of each bot.
 *
 * @param from the id to continue after; the call scans at most `limit` versions, up to those made at `until`
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
  return { cursor: looked < limit ? undefined : (last ?? undefined), deleted }
}

/** SQL for whether the owner of a state in `looked` does not exist. Unlike `exists`, it is always looked up by the index. */
const isGone = (table: string) => `(select id from ${table} where ${table}.id = looked.owner_id) is null`

/**
 * Deletes states whose user, conversation or workflow does not exist: those that processes of an earlier version have left.
 *
 * @param from the id to continue after; the call looks at `limit` states at most
 */
export async function deleteStatesWithoutOwners(
  db: Database,
  { from, limit }: { from: string | undefined; limit: number },
): Promise<Progress<string>> {
  const [row] = await query<{ last: string | null; looked: number; deleted: number }>(
    db,
    `with looked as materialized (
       select id, type, owner_id from states where id > :from order by id limit :limit
     ), deleted as (
       delete from states using looked
       where states.id = looked.id and case looked.type
         when 'user' then ${isGone('users')}
         when 'conversation' then ${isGone('conversations')}
         when 'workflow' then ${isGone('workflows')}
         else false end
       returning states.id
     )
     select (select max(id) from looked) as last, (select count(*)::integer from looked) as looked,
       (select count(*)::integer from deleted) as deleted`,
    { from: from ?? '', limit },
  )
  const { last, looked, deleted } = row!
  return { cursor: looked < limit ? undefined : (last ?? undefined), deleted }
}

/** Runs work that only one process may do at a time. Undefined when another process is doing it. */
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

import { query, type Database } from './database.ts'
import type { JournalRow } from '../models/tables.ts'

/** Identifies one writing call of one event's handling. */
export interface JournalKey {
  eventId: string
  /** The operation, prefixed with the actions that led to its call. */
  operation: string
  /** The number of this call among the calls of the operation. */
  ordinal: number
}

export interface NewJournalEntry extends JournalKey {
  /** The attempt of the run that makes the call. */
  attempt: number
  inputHash: string
  /** The result that a repeated call replays; plain JSON. */
  result: unknown
}

export async function findJournalEntry(db: Database, key: JournalKey): Promise<JournalRow | undefined> {
  return db('effects').where({ event_id: key.eventId, operation: key.operation, ordinal: key.ordinal }).first()
}

/** SQL that finds a run's event while the run is the event's newest; a run may write only under this condition. */
export const newestRun = `
  select id from events where id = :effectEventId and attempt = :effectAttempt and ended_at is null`

/** SQL that inserts a journal entry, up to the `from` that states its condition. */
export const journalInsert = `
  insert into effects (event_id, operation, ordinal, input_hash, result)
  select :effectEventId, :effectOperation, :effectOrdinal, :effectInputHash, :effectResult`

/** The bindings of `newestRun` and `journalInsert`. */
export function journalBindings(effect: NewJournalEntry) {
  return {
    effectEventId: effect.eventId,
    effectAttempt: effect.attempt,
    effectOperation: effect.operation,
    effectOrdinal: effect.ordinal,
    effectInputHash: effect.inputHash,
    effectResult: JSON.stringify(effect.result ?? null),
  }
}

/**
 * Records the result of a call, if the calling run is the event's newest.
 *
 * @returns whether it is
 * @throws a unique violation when the call is recorded already
 */
export async function insertJournalEntry(db: Database, effect: NewJournalEntry): Promise<boolean> {
  const rows = await query(db, `${journalInsert} from (${newestRun}) run returning event_id`, journalBindings(effect))
  return rows.length === 1
}

/**
 * Records another result of a recorded call, if the calling run is the event's newest.
 *
 * @returns whether it is
 */
export async function replaceJournalEntry(db: Database, effect: NewJournalEntry): Promise<boolean> {
  const rows = await query(
    db,
    `update effects set result = :effectResult from (${newestRun}) run
     where event_id = run.id and operation = :effectOperation and ordinal = :effectOrdinal returning event_id`,
    journalBindings(effect),
  )
  return rows.length === 1
}

export async function isNewestRun(db: Database, run: { eventId: string; attempt: number }): Promise<boolean> {
  const rows = await query(db, newestRun, { effectEventId: run.eventId, effectAttempt: run.attempt })
  return rows.length === 1
}

/** Whether an event exists: it is deleted with its conversation, its integration or its bot. */
export async function eventExists(db: Database, id: string): Promise<boolean> {
  return (await db('events').where({ id }).first('id')) !== undefined
}

/** The ordinal of an outcome of a card, whose operation is the scope of the card. Calls are counted from 1. */
const outcomeOrdinal = 0

/**
 * Records outcomes of cards, unless they are recorded already.
 *
 * @returns false, with nothing written, when the run is not the event's newest
 */
export async function insertCardOutcomes(
  db: Database,
  run: { eventId: string; attempt: number },
  entries: { scope: string; outcome: unknown }[],
): Promise<boolean> {
  const rows = await query(
    db,
    `with run as (${newestRun}), recorded as (
       insert into effects (event_id, operation, ordinal, input_hash, result)
       select run.id, entry.scope, ${outcomeOrdinal}, '', entry.outcome
       from run, jsonb_to_recordset(:entries) as entry (scope text, outcome jsonb)
       on conflict do nothing
     )
     select id from run`,
    { effectEventId: run.eventId, effectAttempt: run.attempt, entries: JSON.stringify(entries) },
  )
  return rows.length === 1
}

/** The recorded outcomes of an event's cards, by scope. */
export async function cardOutcomes(db: Database, eventId: string): Promise<Record<string, unknown>> {
  const rows = await db('effects').where({ event_id: eventId, ordinal: outcomeOrdinal }).select('operation', 'result')
  return Object.fromEntries(rows.map(({ operation, result }) => [operation, result]))
}

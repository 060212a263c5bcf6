import { query, type Database } from './database.ts'
import type { EffectRow } from './tables.ts'

/** Which writing call of which event's handling it is. */
export interface EffectKey {
  eventId: string
  operation: string
  ordinal: number
}

export async function findEffect(db: Database, key: EffectKey): Promise<EffectRow | undefined> {
  return db('effects').where({ event_id: key.eventId, operation: key.operation, ordinal: key.ordinal }).first()
}

/**
 * Records what a call gave, if the run that made it is still the event's newest.
 *
 * @returns false when a newer run has taken the event over: then nothing may be written on the old run's behalf
 * @throws a unique violation when another run recorded the same call first
 */
export async function insertEffect(
  db: Database,
  effect: EffectKey & { attempt: number; inputHash: string; result: unknown },
): Promise<boolean> {
  const rows = await query<{ event_id: string }>(
    db,
    `insert into effects (event_id, operation, ordinal, input_hash, result)
     select id, :operation, :ordinal, :inputHash, :result from events
     where id = :eventId and attempt = :attempt and status = 'pending'
     returning event_id`,
    {
      eventId: effect.eventId,
      attempt: effect.attempt,
      operation: effect.operation,
      ordinal: effect.ordinal,
      inputHash: effect.inputHash,
      result: JSON.stringify(effect.result ?? null),
    },
  )
  return rows.length === 1
}

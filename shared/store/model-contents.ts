import { query, type Database } from './database.ts'

/** A question to language models and the answer, of a call of an event. */
export interface ModelContents {
  key: string
  prompt: string
  answer: string
}

/** Keeps the question and the answer of a call; those of the same call in an earlier run stay. Nothing when the event is gone. */
export async function insertModelContents(
  db: Database,
  contents: ModelContents & { eventId: string; userId: string | null },
): Promise<void> {
  await query(
    db,
    `insert into model_contents (event_id, key, user_id, prompt, answer)
     select id, :key, (select users.id from users where users.id = :userId), :prompt, :answer
     from events where id = :eventId
     on conflict (event_id, key) do nothing`,
    { ...contents },
  )
}

export async function findModelContents(db: Database, eventId: string): Promise<Map<string, ModelContents>> {
  const rows = await query<ModelContents>(
    db,
    'select key, prompt, answer from model_contents where event_id = :eventId',
    { eventId },
  )
  return new Map(rows.map((row) => [row.key, row]))
}

/**
 * Deletes the contents of the oldest events.
 *
 * @param until a lower bound of the ids of events since a moment
 * @returns the number of deleted rows
 */
export async function deleteOldModelContents(db: Database, until: string, limit: number): Promise<number> {
  const [row] = await query<{ deleted: number }>(
    db,
    `with oldest as (
       select event_id, key from model_contents where event_id < :until order by event_id, key limit :limit
     ), deleted as (
       delete from model_contents using oldest
       where model_contents.event_id = oldest.event_id and model_contents.key = oldest.key
       returning model_contents.key
     )
     select count(*)::integer as deleted from deleted`,
    { until, limit },
  )
  return row?.deleted ?? 0
}

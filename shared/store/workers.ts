import { query, type Database } from './database.ts'
import type { WorkerRow } from '../models/tables.ts'

/** Stores a worker's heartbeat with its load. Workers without a heartbeat for a day are deleted. */
export async function recordHeartbeat(
  db: Database,
  worker: { id: string; host: string; slots: number; inUse: number },
): Promise<void> {
  await query(
    db,
    `with gone as (delete from workers where seen_at < now() - interval '1 day')
     insert into workers (id, host, slots, in_use) values (:id, :host, :slots, :inUse)
     on conflict (id) do update set seen_at = now(), slots = excluded.slots, in_use = excluded.in_use`,
    worker,
  )
}

export async function deleteWorker(db: Database, id: string): Promise<void> {
  await db('workers').where({ id }).delete()
}

/** The workers with a recent heartbeat, the longest running first. */
export async function liveWorkers(db: Database, milliseconds: number): Promise<WorkerRow[]> {
  return query<WorkerRow>(
    db,
    `select * from workers where seen_at > now() - :milliseconds::double precision * interval '1 millisecond'
     order by started_at, id limit 1000`,
    { milliseconds },
  )
}

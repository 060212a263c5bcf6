import { query, type Database } from './database.ts'
import type { StateRow, StateType } from './tables.ts'

export interface StateName {
  botId: string
  type: StateType
  ownerId: string
  name: string
}

/** A state that has expired is as if it had never been. */
export async function findState(db: Database, of: StateName): Promise<StateRow | undefined> {
  return db('states')
    .where({ bot_id: of.botId, type: of.type, owner_id: of.ownerId, name: of.name })
    .where((query) => query.whereNull('expires_at').orWhere('expires_at', '>', db.fn.now()))
    .first()
}

/** Replaces a state. `expiry` is in milliseconds from its last change; null keeps it for ever. */
export async function putState(
  db: Database,
  state: StateName & { id: string; payload: Record<string, unknown>; expiry: number | null },
): Promise<StateRow> {
  const [row] = await query<StateRow>(
    db,
    `insert into states as kept (id, bot_id, type, owner_id, name, payload, expiry, expires_at)
     values (:id, :botId, :type, :ownerId, :name, :payload, :expiry::bigint, now() + :expiry::bigint * interval '1 millisecond')
     on conflict (bot_id, type, owner_id, name) do update set
       payload = excluded.payload, expiry = excluded.expiry, expires_at = excluded.expires_at, updated_at = now()
     returning *`,
    { ...state, payload: JSON.stringify(state.payload) },
  )
  if (!row) throw new Error('The stored state was not returned')
  return row
}

export async function removeState(db: Database, of: StateName): Promise<StateRow | undefined> {
  const [row] = await db('states')
    .where({ bot_id: of.botId, type: of.type, owner_id: of.ownerId, name: of.name })
    .delete()
    .returning('*')
  return row
}

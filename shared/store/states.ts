import { flowStateName } from '../models/state.ts'
import { query, type Database } from './database.ts'
import type { StateRow, StateType } from '../models/tables.ts'

export interface StateName {
  botId: string
  type: StateType
  ownerId: string
  name: string
  /** The installed integration that owns the state; null for the bot. */
  installationId: string | null
}

/** A state to store. It expires after `expiry` milliseconds without a touch; null for never. */
export interface NewState extends StateName {
  id: string
  payload: Record<string, unknown>
  expiry: number | null
}

const isNamed = `
  bot_id = :botId and type = :type and owner_id = :ownerId and name = :name
  and installation_id is not distinct from :installationId`

/** An expired state is invisible from that moment on, and not only after its deletion. */
const isUnexpired = `(expires_at is null or expires_at > now())`

const expiryFromNow = (expiry: string) => `now() + ${expiry} * interval '1 millisecond'`

/** Finds a state and touches it, which renews its expiry. */
export async function touchState(db: Database, of: StateName): Promise<StateRow | undefined> {
  const [row] = await query<StateRow>(
    db,
    `with touched as (
       update states set expires_at = ${expiryFromNow('expiry')}
       where ${isNamed} and expires_at > now()
       returning *
     )
     select * from touched
     union all
     select * from states where ${isNamed} and expires_at is null`,
    named(of),
  )
  return row
}

/** The payload of the state that holds a conversation's position in flows; undefined when there is none. */
export async function findFlowState(
  db: Database,
  botId: string,
  conversationId: string,
): Promise<Record<string, unknown> | undefined> {
  const named = { bot_id: botId, type: 'conversation', owner_id: conversationId, name: flowStateName } as const
  return (await db('states').where(named).whereNull('installation_id').first('payload'))?.payload
}

/** Replaces or creates a state, including its expiry. Undefined when its owner has been deleted. */
export async function putState(db: Database, state: NewState): Promise<StateRow | undefined> {
  return upsert(db, state, {
    payload: 'excluded.payload',
    expiry: 'excluded.expiry',
  })
}

/**
 * Sets the given top-level keys of a state and leaves the others; creates the state if there is none. Undefined when its
 * owner has been deleted.
 *
 * @param keepsExpiry whether an existing state keeps its expiry
 */
export async function mergeState(db: Database, state: NewState, keepsExpiry: boolean): Promise<StateRow | undefined> {
  return upsert(db, state, {
    payload: `case when kept.expires_at <= now() then excluded.payload else kept.payload || excluded.payload end`,
    expiry: keepsExpiry
      ? `case when kept.expires_at <= now() then excluded.expiry else kept.expiry end`
      : 'excluded.expiry',
  })
}

/** Creates a state unless there is one; an existing one is touched and returned. Undefined when its owner has been deleted. */
export async function ensureState(db: Database, state: NewState): Promise<StateRow | undefined> {
  return upsert(db, state, {
    payload: `case when kept.expires_at <= now() then excluded.payload else kept.payload end`,
    expiry: `case when kept.expires_at <= now() then excluded.expiry else kept.expiry end`,
  })
}

/** The tables of owners. Bots and installations are referred to by foreign keys. */
const ownerTables: Partial<Record<StateType, string>> = {
  user: 'users',
  conversation: 'conversations',
  workflow: 'workflows',
}

/** SQL for the owner of a new state, which cannot be deleted before the commit. */
function lockedOwner(type: StateType): string {
  const table = ownerTables[type]
  return table ? `from (select from ${table} where bot_id = :botId and id = :ownerId for key share) owner` : ''
}

/** @param conflict SQL for the columns of an existing row, which is named `kept` */
async function upsert(
  db: Database,
  state: NewState,
  conflict: { payload: string; expiry: string },
): Promise<StateRow | undefined> {
  const [row] = await query<StateRow>(
    db,
    `insert into states as kept
       (id, bot_id, type, owner_id, name, installation_id, payload, expiry, expires_at)
     select :id, :botId, :type, :ownerId, :name, :installationId, :payload, :expiry::bigint,
       ${expiryFromNow(':expiry::bigint')} ${lockedOwner(state.type)}
     on conflict (bot_id, type, owner_id, name, installation_id) do update set
       payload = ${conflict.payload}, expiry = ${conflict.expiry},
       expires_at = ${expiryFromNow(`(${conflict.expiry})`)},
       updated_at = case when ${conflict.payload} = kept.payload then kept.updated_at else now() end
     returning *`,
    {
      ...named(state),
      id: state.id,
      payload: JSON.stringify(state.payload),
      expiry: state.expiry,
    },
  )
  return row
}

/** Sets the milliseconds without a touch after which a state expires; null for never. */
export async function setExpiry(db: Database, of: StateName, expiry: number | null): Promise<StateRow | undefined> {
  const [row] = await query<StateRow>(
    db,
    `update states
     set expiry = :expiry::bigint, expires_at = ${expiryFromNow(':expiry::bigint')}, updated_at = now()
     where ${isNamed} and ${isUnexpired}
     returning *`,
    { ...named(of), expiry },
  )
  return row
}

export async function removeState(db: Database, of: StateName): Promise<StateRow | undefined> {
  const [row] = await query<StateRow>(
    db,
    `delete from states where ${isNamed} and ${isUnexpired} returning *`,
    named(of),
  )
  return row
}

function named({ botId, type, ownerId, name, installationId }: StateName) {
  return { botId, type, ownerId, name, installationId }
}

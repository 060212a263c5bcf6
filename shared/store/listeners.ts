import { query, type Database } from './database.ts'

/** A listener of a conversation, by internal ids. */
interface Listener {
  conversationId: string
  userId: string
}

/** Whether a listener's user still exists and is a participant. */
export async function findListener(
  db: Database,
  { conversationId, userId }: Listener,
): Promise<{ is_user: boolean; is_participant: boolean }> {
  const [row] = await query<{ is_user: boolean; is_participant: boolean }>(
    db,
    `select exists (select from users where id = :userId) as is_user,
       exists (select from participants where conversation_id = :conversationId and user_id = :userId) as is_participant`,
    { conversationId, userId },
  )
  return row!
}

/** The indexes, from 0, of listeners who are no longer participants of a conversation that still exists. */
export async function goneListeners(db: Database, listeners: Listener[]): Promise<number[]> {
  if (listeners.length === 0) return []
  const rows = await query<{ index: number }>(
    db,
    `select (ordinal - 1)::integer as index
     from unnest(:conversationIds::text[], :userIds::text[]) with ordinality as listener (conversation, listening, ordinal)
     where exists (select from conversations where id = conversation)
       and not exists (select from participants where conversation_id = conversation and user_id = listening)`,
    {
      conversationIds: listeners.map(({ conversationId }) => conversationId),
      userIds: listeners.map(({ userId }) => userId),
    },
  )
  return rows.map(({ index }) => index)
}

/** The webhook ids of the installations that have changed since they were read, or were deleted. */
export async function changedInstallations(db: Database, seen: Map<string, Date>): Promise<string[]> {
  if (seen.size === 0) return []
  const rows = await query<{ address: string }>(
    db,
    `select address
     from unnest(:addresses::text[], :times::timestamptz[]) as seen (address, at)
     where not exists (select from installations where webhook_id = address and updated_at = at)`,
    { addresses: [...seen.keys()], times: [...seen.values()].map((time) => time.toISOString()) },
  )
  return rows.map(({ address }) => address)
}

import { sessionName } from '../models/state.ts'
import { nextClock } from './conversation-log.ts'
import type { NewEvent } from './events.ts'
import { query, type Database } from './database.ts'
import { eventInsert } from './insert-rows.ts'
import type { Due } from './scheduled-events.ts'
import type { StateRow } from '../models/tables.ts'

/**
 * What has expired is gone for everybody from that moment on, and swept away a little later. Of what it set itself the
 * bot is told; of sessions, which the platform keeps for it, and of integrations' states it is not.
 */
const isSilent = `(installation_id is not null or (type = 'conversation' and name = '${sessionName}'))`

/** Deletes expired states of which nobody is told, at most so many. Gives how many there were. */
export async function deleteSilently(db: Database, limit: number): Promise<number> {
  const rows = await query(
    db,
    `delete from states where id in (
       select id from states where expires_at <= now() and ${isSilent}
       order by expires_at limit :limit for update skip locked
     )
     returning id`,
    { limit },
  )
  return rows.length
}

/** Expired states of which the bot is to be told, the longest expired first. */
export async function expiredStates(db: Database, due: Due): Promise<StateRow[]> {
  return query<StateRow>(
    db,
    `select * from states where expires_at <= now() and not ${isSilent} and bot_id <> all(:fullBots::text[])
     order by expires_at, id limit :limit`,
    { ...due },
  )
}

const expiry = eventInsert({
  id: ':id',
  bot_id: 'bot_id',
  mailbox: 'coalesce(conversation.id, :id)',
  conversation_id: 'conversation.id',
  user_id: ':userId',
  workflow_id: ':workflowId',
  type: ':type',
  payload: ':payload',
  created_at: 'coalesce(clock, clock_timestamp())',
})

/**
 * Deletes an expired state and stores the event that tells of it: in the mailbox of the conversation whose state it was,
 * or one of its own.
 *
 * @returns the mailbox; undefined when there is no event, because the state has been touched or swept away meanwhile, or
 *   its conversation is deleted
 */
export async function expireState(
  db: Database,
  state: StateRow,
  event: Pick<NewEvent, 'id' | 'type' | 'payload'>,
): Promise<string | undefined> {
  const ownerOf = (type: StateRow['type']) => (state.type === type ? state.owner_id : null)
  const [row] = await query<{ mailbox: string }>(
    db,
    `with conversation as (
       ${nextClock}
       where id = :conversationId and bot_id = :botId and exists (select from states where id = :stateId)
       returning id, clock
     ), gone as (
       delete from states where id = :stateId and expires_at = :expiresAt
       returning bot_id
     )
     ${expiry}
     from gone left join conversation on true
     where :conversationId::text is null or conversation.id is not null
     returning mailbox`,
    {
      id: event.id,
      type: event.type,
      payload: JSON.stringify(event.payload),
      botId: state.bot_id,
      stateId: state.id,
      expiresAt: state.expires_at,
      conversationId: ownerOf('conversation'),
      userId: ownerOf('user'),
      workflowId: ownerOf('workflow'),
    },
  )
  return row?.mailbox
}

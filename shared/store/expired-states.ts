import { flowStateName, sessionName } from '../models/state.ts'
import { nextClock } from './conversation-log.ts'
import type { NewEvent } from './events.ts'
import { query, type Database } from './database.ts'
import { eventInsert } from './insert-rows.ts'
import type { Due } from './scheduled-events.ts'
import type { StateRow } from '../models/tables.ts'

/**
 * An expired state is invisible from that moment on, and deleted a little later. The bot gets an event for states that
 * it set itself, but not for sessions, which the platform manages, nor for states of integrations.
 */
const isSilent = `(installation_id is not null or (type = 'conversation' and name = '${sessionName}'))`

/** Deletes expired states without an event, up to a limit. @returns the number of deleted states */
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

/** Expired states for which the bot gets an event, the longest expired first. */
export async function expiredStates(db: Database, due: Due): Promise<StateRow[]> {
  return query<StateRow>(
    db,
    `select * from states where expires_at <= now() and not ${isSilent} and bot_id <> all(:exceptBots::text[])
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
 * Deletes an expired state and stores its event, in the mailbox of the state's conversation or in one of its own. The
 * position in flows stays, and waits no longer.
 *
 * @returns the mailbox; undefined when no event was stored, because the state has been touched or deleted meanwhile, or
 *   its conversation is deleted
 */
export async function expireState(
  db: Database,
  state: StateRow,
  event: Pick<NewEvent, 'id' | 'type' | 'payload' | 'userId'>,
): Promise<string | undefined> {
  const ownerOf = (type: StateRow['type']) => (state.type === type ? state.owner_id : null)
  const [row] = await query<{ mailbox: string }>(
    db,
    `with conversation as (
       ${nextClock}
       where id = :conversationId and bot_id = :botId and exists (select from states where id = :stateId)
       returning id, clock
     ), gone as (
       ${state.name === flowStateName ? 'update states set expires_at = null' : 'delete from states'}
       where id = :stateId and expires_at = :expiresAt
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
      userId: event.userId ?? ownerOf('user'),
      workflowId: ownerOf('workflow'),
    },
  )
  return row?.mailbox
}

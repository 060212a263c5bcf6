import type { HandoverView } from '../models/handover.ts'
import type { HandoverRow } from '../models/tables.ts'
import { query, type Database } from './database.ts'
import type { Due } from './scheduled-events.ts'

/** Reads handovers, one at a time. `handover-lists.ts` has their pages, `handovers.ts` their changes. */

/**
 * SQL for whether a handover is more than begun. The run that begins one of the inbox goes on to prepare the bot for its
 * events, which would otherwise not be copied: members wait for the run's end. They do not wait for ever: a run whose code is
 * suspended, or whose mailbox is stuck, may not end.
 */
export const isPrepared = `(handovers.created_at < clock_timestamp() - interval '5 minutes'
  or not exists (select from events where events.id = handovers.event_id and events.status = 'pending'))`

/** SQL for handovers with the names of their members and their users. */
export const handoverView = `select handovers.*, not ${isPrepared} as is_beginning, accounts.name as account_name, accounts.picture_url as account_picture_url,
  conversations.owner_id as user_id, users.name as user_name, installations.integration, conversations.channel
  from handovers join conversations on conversations.id = conversation_id
  join installations on installations.id = conversations.installation_id
  left join accounts on accounts.id = account_id left join users on users.id = conversations.owner_id`

/** A handover of a bot, with the names of its member and its user. */
export async function findHandover(db: Database, botId: string, id: string): Promise<HandoverView | undefined> {
  const [row] = await query<HandoverView>(
    db,
    `${handoverView} where handovers.id = :id and handovers.bot_id = :botId`,
    {
      botId,
      id,
    },
  )
  return row
}

/** A handover in the inbox of its workspace. */
export interface HandoverOfInbox {
  handoverId: string
  workspaceId: string
  botId: string
  conversationId: string
  /** The member who answers. */
  accountId: string | null
}

const ofInbox = `select handovers.id as "handoverId", workspace_id as "workspaceId", bot_id as "botId",
  conversation_id as "conversationId", account_id as "accountId" from handovers join bots on bots.id = bot_id`

/** A handover with its workspace. */
export async function findHandoverOfInbox(db: Database, id: string): Promise<HandoverOfInbox | undefined> {
  const [row] = await query<HandoverOfInbox>(db, `${ofInbox} where handovers.id = :id`, { id })
  return row
}

/** The handover in progress of a conversation of the inbox; undefined for other conversations. */
export async function findSessionInProgress(
  db: Database,
  conversationId: string,
): Promise<HandoverOfInbox | undefined> {
  const [row] = await query<HandoverOfInbox>(
    db,
    `${ofInbox} where conversation_id = :conversationId and ended_at is null and requested_by = 'integration'`,
    { conversationId },
  )
  return row
}

/**
 * The handovers in progress in which people answer for a conversation: its own, and those of the inbox that began with one of
 * its events.
 */
export async function findAnsweringHandovers(db: Database, conversationId: string): Promise<HandoverOfInbox[]> {
  return query(
    db,
    `${ofInbox} where ended_at is null and handovers.id in (
       select id from handovers where conversation_id = :conversationId and ended_at is null
       union all
       select id from handovers where source_conversation_id = :conversationId and ended_at is null
     ) limit 10`,
    { conversationId },
  )
}

/** The handover in progress in a conversation of a bot. */
export async function findHandoverInProgress(
  db: Database,
  botId: string,
  conversationId: string,
): Promise<HandoverView | undefined> {
  const [row] = await query<HandoverView>(
    db,
    `${handoverView} where handovers.conversation_id = :conversationId and handovers.bot_id = :botId and ended_at is null`,
    { botId, conversationId },
  )
  return row
}

/** Whether a conversation of a bot is or was handed over. */
export async function hasHadHandover(
  db: Database,
  { botId, conversationId }: { botId: string; conversationId: string },
): Promise<boolean> {
  return (await db('handovers').where({ bot_id: botId, conversation_id: conversationId }).first('id')) !== undefined
}

/** Handovers whose time is over, oldest first. */
export async function dueHandovers(db: Database, { limit, exceptBots }: Due): Promise<HandoverRow[]> {
  return query(
    db,
    `select * from handovers where ended_at is null and expires_at <= now() and ${isPrepared} and bot_id <> all(:exceptBots::text[])
     order by expires_at limit :limit`,
    { limit, exceptBots },
  )
}

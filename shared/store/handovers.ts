import { newId } from '../ids.ts'
import { inboxIntegration } from '../models/chat-integration.ts'
import { isConverse } from '../models/converse.ts'
import { actionTriggered, handoverEnded, inboxStopped, workflowUpdate } from '../models/event.ts'
import { rolesIncluding } from '../models/member.ts'
import type { ConversationRow, EventRow, HandoverRow, MemberMessageRow } from '../models/tables.ts'
import { query, type Database } from './database.ts'
import { insertConversationEvent } from './events.ts'
import { findHandover, isPrepared } from './find-handovers.ts'
import { recordWaitingNews } from './inbox-webhooks.ts'

/**
 * A handover gives a conversation to people. It is a row, and the conversation's row names it while it is in progress:
 * the claim of an event reads it, so the switch costs no further statement. Transactions that lock both rows lock
 * the conversation first.
 */

export interface NewHandover {
  botId: string
  conversationId: string
  title?: string | undefined
  description?: string | undefined
  requestedBy: HandoverRow['requested_by']
  /** The member who answers from the beginning. */
  accountId?: string | undefined
  expiresInSeconds?: number | undefined
}

/**
 * Begins a handover, in a transaction. A conversation that is handed over already keeps its handover.
 *
 * @returns the handover in progress; undefined when the bot has no such conversation
 */
export async function beginHandover(
  transaction: Database,
  given: NewHandover,
): Promise<{ id: string; isNew: boolean } | undefined> {
  const { botId, conversationId } = given
  const conversation = await lockConversation(transaction, botId, conversationId)
  if (!conversation) return undefined
  if (conversation.handover_id !== null) return { id: conversation.handover_id, isNew: false }
  const id = newId('handover')
  await query(
    transaction,
    `with begun as (
       insert into handovers (id, bot_id, conversation_id, status, title, description, requested_by, account_id,
         created_at, assigned_at, expires_at)
       select :id, :botId, :conversationId, case when :accountId::text is null then 'pending' else 'assigned' end, :title,
         :description, :requestedBy, :accountId, clock_timestamp(),
         case when :accountId::text is null then null else clock_timestamp() end,
         clock_timestamp() + :expiresInSeconds::double precision * interval '1 second'
       returning conversation_id
     )
     update conversations set handover_id = :id where id = (select conversation_id from begun)`,
    {
      id,
      botId,
      conversationId,
      title: given.title ?? null,
      description: given.description ?? null,
      requestedBy: given.requestedBy,
      accountId: given.accountId ?? null,
      expiresInSeconds: given.expiresInSeconds ?? null,
    },
  )
  return { id, isNew: true }
}

/** Locks a conversation until the transaction ends. Undefined when the bot has no such conversation. */
export async function lockConversation(
  transaction: Database,
  botId: string,
  id: string,
): Promise<Pick<ConversationRow, 'handover_id' | 'tags'> | undefined> {
  const [row] = await query<Pick<ConversationRow, 'handover_id' | 'tags'>>(
    transaction,
    `select handover_id, tags from conversations where id = :id and bot_id = :botId for no key update`,
    { botId, id },
  )
  return row
}

/** The end of a handover. */
export interface HandoverEnd {
  handover: HandoverRow
  /** The event by which the bot learns of it. */
  event: EventRow
  /** The events that waited, are now ignored, and have callers who wait for their results. */
  awaitedEvents: string[]
}

/**
 * Ends a handover, in a transaction, and stores the event by which the bot learns of it. Events that wait came during the
 * handover: no code will handle them. Those of the inbox wait for the bot. Undefined when the handover is not in progress.
 */
export async function endHandover(
  transaction: Database,
  where: { botId: string; id: string; status: 'resolved' | 'expired' },
): Promise<HandoverEnd | undefined> {
  const closed = await closeHandover(transaction, { ...where, isPlugin: false })
  if (!closed) return undefined
  const { handover, tags } = closed
  const { id, status, conversation_id: conversationId } = handover
  if (handover.requested_by === 'integration') {
    return {
      handover,
      event: await insertEnd(transaction, handover, inboxStopped, { conversationId }),
      awaitedEvents: [],
    }
  }
  const ignored = await query<{ id: string }>(
    transaction,
    // The claim of an event with an attempt has decided.
    `update events set status = 'ignored', handover_id = :id, ended_at = clock_timestamp()
     where mailbox = :conversationId and status = 'pending' and attempt = 0 and installation_id is null
       and type <> all('{${actionTriggered},${workflowUpdate}}')
     returning id`,
    { id, conversationId },
  )
  const event = await insertEnd(transaction, handover, handoverEnded, { handoverId: id, status })
  return { handover, event, awaitedEvents: isConverse(tags) ? ignored.map(({ id }) => id) : [] }
}

/** Ends a handover of the inbox for the bot's own code, which needs no event, in a transaction. */
export async function endSession(transaction: Database, where: { botId: string; id: string }): Promise<void> {
  await closeHandover(transaction, { ...where, status: 'resolved', isPlugin: true })
}

async function closeHandover(
  transaction: Database,
  given: { botId: string; id: string; status: 'resolved' | 'expired'; isPlugin: boolean },
): Promise<{ handover: HandoverRow; tags: ConversationRow['tags'] | null } | undefined> {
  const { botId, id } = given
  const found = await findHandover(transaction, botId, id)
  if (!found) return undefined
  const conversation = await lockConversation(transaction, botId, found.conversation_id)
  await recordWaitingNews(transaction, id)
  const [handover] = await query<HandoverRow>(
    transaction,
    `with ended as (
       update handovers set status = :status, ended_at = clock_timestamp()
       where id = :id and bot_id = :botId and ended_at is null and (:isPlugin or ${isPrepared})
       returning *
     ), conversation as (
       update conversations set handover_id = null where id = (select conversation_id from ended)
     )
     select * from ended`,
    given,
  )
  return handover && { handover, tags: conversation?.tags ?? null }
}

/** Stores the event by which the bot learns of the end. */
async function insertEnd(
  transaction: Database,
  { bot_id: botId, conversation_id: conversationId, requested_by: requestedBy }: HandoverRow,
  type: string,
  payload: Record<string, unknown>,
): Promise<EventRow> {
  const event = await insertConversationEvent(transaction, {
    id: newId('evt'),
    botId,
    conversationId,
    type,
    payload,
    ...(requestedBy === 'integration' && { integration: inboxIntegration }),
  })
  if (!event) throw new Error('The conversation of a handover was not found')
  return event
}

/** Locks a handover until the transaction ends. @returns its conversation; undefined when the bot has no such handover */
export async function lockHandover(transaction: Database, botId: string, id: string): Promise<string | undefined> {
  const row = await transaction('handovers').where({ bot_id: botId, id }).forNoKeyUpdate().first('conversation_id')
  return row?.conversation_id
}

/**
 * Assigns a handover in progress.
 *
 * @param from the account that it must belong to, null for none; absent: any. Of two members who claim it at once, one gets it
 * @returns whether it was assigned
 */
export async function assignHandover(
  db: Database,
  where: { botId: string; id: string },
  { accountId, from }: { accountId: string | null; from?: string | null | undefined },
): Promise<boolean> {
  const rows = await query(
    db,
    `update handovers set account_id = :accountId,
       status = case when :accountId::text is null then 'pending' else 'assigned' end,
       assigned_at = case when :accountId::text is null then null else clock_timestamp() end
     where id = :id and bot_id = :botId and ended_at is null
       and (:isFromAnyone or account_id is not distinct from :from) and ${isPrepared}
     returning id`,
    { ...where, accountId, from: from ?? null, isFromAnyone: from === undefined },
  )
  return rows.length === 1
}

/** Records a member's reply. False when the handover has ended or belongs to another member. */
export async function recordReply(
  transaction: Database,
  where: { botId: string; id: string; accountId: string },
): Promise<boolean> {
  const rows = await query(
    transaction,
    `update handovers set first_reply_at = coalesce(first_reply_at, clock_timestamp())
     where id = :id and bot_id = :botId and account_id = :accountId and ended_at is null returning id`,
    where,
  )
  return rows.length === 1
}

/** Stores which member wrote a message, who has thereby read all before it. */
export async function insertMemberMessage(
  transaction: Database,
  row: Pick<MemberMessageRow, 'message_id' | 'handover_id' | 'name'> & { account_id: string },
): Promise<void> {
  await query(
    transaction,
    `with written as (
       insert into member_messages (message_id, handover_id, account_id, name)
       values (:message_id, :handover_id, :account_id, :name)
     )
     insert into handover_reads as present (handover_id, account_id, read_at)
     select :handover_id, :account_id, created_at from messages where id = :message_id
     on conflict (handover_id, account_id) do update set read_at = greatest(present.read_at, excluded.read_at)`,
    row,
  )
}

/** The user as whom a member writes in the conversations of an installation; undefined before the first message there. */
export async function findMemberUser(
  db: Database,
  installationId: string,
  accountId: string,
): Promise<string | undefined> {
  const row = await db('member_users')
    .where({ installation_id: installationId, account_id: accountId })
    .first('user_id')
  return row?.user_id
}

/** Makes the handovers pending that an account answers in bots of a workspace, or in all bots. */
export async function releaseHandovers(db: Database, accountId: string, workspaceId?: string): Promise<void> {
  await query(
    db,
    `update handovers set account_id = null, status = 'pending', assigned_at = null
     where account_id = :accountId and ended_at is null
       and (:workspaceId::text is null or bot_id in (select id from bots where workspace_id = :workspaceId))`,
    { accountId, workspaceId: workspaceId ?? null },
  )
}

/** Makes the handovers of a bot pending that belong to members of other workspaces. */
export async function releaseForeignHandovers(db: Database, botId: string, workspaceId: string): Promise<void> {
  await query(
    db,
    `update handovers set account_id = null, status = 'pending', assigned_at = null
     where bot_id = :botId and ended_at is null and account_id not in (
       select account_id from members
       where workspace_id = :workspaceId and accepted_at is not null and role = any(:roles)
     )`,
    { botId, workspaceId, roles: rolesIncluding('agent') },
  )
}

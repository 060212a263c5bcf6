import { inboxIntegration } from '../models/chat-integration.ts'
import type { Retention } from '../models/retention.ts'
import { flowStateName } from '../models/state.ts'
import { query, type Database } from './database.ts'
import { eraseOfConversation } from './erase-person.ts'
import { eraseOfEvents } from './erase-rows.ts'
import { deleteUser } from './users.ts'

/**
 * Retention of messages, conversations, events and users, by the days that each bot has. Rows are read in the order of their
 * creation, by indexes that exist, a bounded number at a time. Nothing of a conversation in which something is in progress
 * is deleted, and no workflow in progress.
 */

/** A row in the order of creation. */
export interface RowPosition {
  time: string
  id: string
}

/** The rows of a bot to look at next. */
export interface RetentionScope {
  botId: string
  days: number
  /** The last row that was looked at. */
  after: RowPosition | undefined
  /** Upper bound of the rows that are looked at. */
  limit: number
}

/** The outcome of one look. */
export interface RetentionStep {
  /** Numbers of deleted rows, by kind. */
  deleted: Record<string, number>
  /** The number of rows that were looked at. */
  looked: number
  /** The row to continue after; undefined when all of the bot's have been looked at. */
  last: RowPosition | undefined
}

/** The next bot, from an id on, whose rows of a kind have a retention. @param days the operator's; 0 for never */
export async function nextRetainingBot(
  db: Database,
  field: keyof Retention,
  days: number,
  from: { botId: string; isIncluded: boolean },
): Promise<{ id: string; days: number } | undefined> {
  const [row] = await query<{ id: string; days: number }>(
    db,
    `select id, coalesce((retention ->> :field)::integer, :days) as days from bots
     where (id > :botId or (:isIncluded and id = :botId)) and coalesce((retention ->> :field)::integer, :days) > 0
     order by id limit 1`,
    { field, days, ...from },
  )
  return row
}

/**
 * SQL for whether something is in progress in the conversation `c`: an event that waits, runs or is scheduled, a handover, a
 * workflow, or a flow. A flow that waits for an answer without a limit is not in progress: it might never come.
 */
const isInProgress = `(
  c.handover_id is not null
  or exists (select from events where conversation_id = c.id and status in ('pending', 'scheduled'))
  or exists (select from handovers where (conversation_id = c.id or source_conversation_id = c.id) and ended_at is null)
  or exists (select from workflows where conversation_id = c.id and completed_at is null)
  or exists (
    select from states
    where states.bot_id = c.bot_id and type = 'conversation' and owner_id = c.id and name = '${flowStateName}'
      and installation_id is null and payload #> '{position,frames,-1,waits}' is not null
      and not (payload #>> '{position,frames,-1,waits,for}' = 'answer'
        and payload #>> '{position,frames,-1,waits,until}' is null)
  )
)`

/** SQL for a time before which rows are older than the retention. */
const until = `now() - :days::double precision * interval '1 day'`

/** SQL of rows of a table after the position, oldest first. */
const nextRows = (table: string, columns: string) => `
  select ${columns}, created_at from ${table}
  where bot_id = :botId and created_at < ${until} and (created_at, id) > (:time::timestamptz, :id)
  order by created_at, id limit :limit`

/** SQL of the last row of `looked`, and of how many there are. */
const progress = `
  (select count(*)::integer from looked) as looked,
  (select jsonb_build_object('time', created_at::text, 'id', id) from looked order by created_at desc, id desc limit 1) as last`

interface ProgressRow {
  looked: number
  last: RowPosition | null
}

function bindingsOf({ botId, days, after, limit }: RetentionScope) {
  return { botId, days, limit, time: after?.time ?? '-infinity', id: after?.id ?? '' }
}

function stepOf(
  { looked, last }: ProgressRow,
  { limit }: RetentionScope,
  deleted: Record<string, number>,
): RetentionStep {
  return { deleted, looked, last: looked < limit ? undefined : (last ?? undefined) }
}

/** Deletes old messages. */
export async function deleteOldMessages(db: Database, scope: RetentionScope): Promise<RetentionStep> {
  const [row] = await query<ProgressRow & { deleted: number }>(
    db,
    `with looked as materialized (${nextRows('messages', 'id, conversation_id')}),
     free as (
       select id from conversations c
       where bot_id = :botId and id in (select conversation_id from looked) and not ${isInProgress}
     ), deleted as (
       delete from messages using looked
       where messages.id = looked.id and looked.conversation_id in (select id from free)
       returning messages.id
     )
     select ${progress}, (select count(*)::integer from deleted) as deleted`,
    bindingsOf(scope),
  )
  return stepOf(row!, scope, { message: row!.deleted })
}

/** Deletes the old events of conversations, with their journals, webhook bodies and log lines. */
export function deleteOldEvents(db: Database, scope: RetentionScope): Promise<RetentionStep> {
  const free = `
    select id from conversations c
    where bot_id = :botId and id in (select conversation_id from looked) and not ${isInProgress}`
  return deleteEventsWhere(db, scope, `looked.conversation_id in (${free})`)
}

/**
 * Deletes the old events that have no conversation, as of timers, webhooks and calls of actions, with their journals, webhook
 * bodies and log lines. Those of a workflow that is in progress stay.
 */
export function deleteOldEventsWithoutConversation(db: Database, scope: RetentionScope): Promise<RetentionStep> {
  const working = 'select from workflows where workflows.id = looked.workflow_id and completed_at is null'
  return deleteEventsWhere(db, scope, `looked.conversation_id is null and not exists (${working})`)
}

/** @param condition SQL for whether an event of `looked` that neither waits nor is scheduled is deleted */
async function deleteEventsWhere(db: Database, scope: RetentionScope, condition: string): Promise<RetentionStep> {
  const [row] = await query<ProgressRow & { ids: string[] }>(
    db,
    `with looked as materialized (${nextRows('events', 'id, conversation_id, workflow_id')}),
     deleted as (
       delete from events using looked
       where events.id = looked.id and events.status not in ('pending', 'scheduled') and ${condition}
       returning events.id
     )
     select ${progress}, array(select id from deleted) as ids`,
    bindingsOf(scope),
  )
  await eraseOfEvents(db, scope.botId, row!.ids)
  return stepOf(row!, scope, { event: row!.ids.length })
}

/**
 * Deletes the old workflows that have no conversation and have been completed for that time, with their states. A parent goes
 * after its last child.
 */
export async function deleteOldWorkflowsWithoutConversation(
  transaction: Database,
  scope: RetentionScope,
): Promise<RetentionStep> {
  const { botId, days } = scope
  const [row] = await query<ProgressRow & { ids: string[] }>(
    transaction,
    `with looked as materialized (${nextRows('workflows', 'id, conversation_id, completed_at')})
     select ${progress}, array(select id from looked where conversation_id is null and completed_at < ${until}) as ids`,
    bindingsOf(scope),
  )
  const { ids } = row!
  await query(transaction, 'select id from workflows where id = any(:ids::text[]) order by id for update', { ids })
  // A second statement sees the children that were created, and the workflows that were continued, until the lock.
  const deleted = await query(
    transaction,
    `delete from workflows where bot_id = :botId and id = any(:ids::text[]) and completed_at < ${until}
       and not exists (select from workflows child where child.parent_id = workflows.id)
     returning id`,
    { botId, ids, days },
  )
  return stepOf(row!, scope, { workflow: deleted.length })
}

/** SQL for whether the conversation `c` is over: long without an entry, with nothing in progress, and no copy of another. */
const isOver = `(
  greatest(c.clock, c.updated_at) < ${until} and not ${isInProgress}
  and not exists (
    select from handovers join conversations source on source.id = source_conversation_id
    where handovers.conversation_id = c.id and source.id <> c.id
  )
)`

/** Ids of the next conversations that are over. They are looked at again before anything is deleted. */
export async function findOverConversations(
  db: Database,
  scope: RetentionScope,
): Promise<RetentionStep & { ids: string[] }> {
  const [row] = await query<ProgressRow & { ids: string[] }>(
    db,
    `with looked as materialized (${nextRows('conversations', 'id')})
     select ${progress}, array(
       select c.id from looked join conversations c on c.id = looked.id where ${isOver} order by looked.created_at, c.id
     ) as ids`,
    bindingsOf(scope),
  )
  return { ...stepOf(row!, scope, {}), ids: row!.ids }
}

/**
 * Deletes the next rows of a conversation that is over or, once there are none, the conversation, as an erasure does. It
 * keeps others from writing to the conversation until the end of the transaction.
 *
 * @returns undefined when the conversation is not over any more
 */
export async function deleteOfConversation(
  transaction: Database,
  { botId, days, limit }: RetentionScope,
  id: string,
): Promise<{ erased: Record<string, number>; isGone: boolean } | undefined> {
  const locked = await query(
    transaction,
    'select id from conversations where bot_id = :botId and id = :id for update skip locked',
    { botId, id },
  )
  if (locked.length === 0) return undefined
  // A second statement sees what was written until the lock.
  const over = await query(
    transaction,
    `select id from conversations c where bot_id = :botId and id = :id and ${isOver}`,
    { botId, id, days },
  )
  if (over.length === 0) return undefined
  await leave(transaction, botId, id)
  return eraseOfConversation(transaction, { id, bot_id: botId }, limit)
}

/** Stores when the participants were active last, and deletes the files that they sent in the conversation. */
async function leave(transaction: Database, botId: string, id: string): Promise<void> {
  await query(
    transaction,
    `with gone as (select id, foreign_id, owner_id, installation_id, clock from conversations where bot_id = :botId and id = :id),
     people as (
       select user_id from participants, gone where conversation_id = gone.id union select owner_id from gone
     ), sent as (
       delete from files using gone, people
       where files.bot_id = :botId and files.user_id = people.user_id and files.tags ->> 'source' = 'integration'
         and files.tags ->> 'conversation' in (gone.id, gone.foreign_id)
     )
     update users set active_at = greatest(users.active_at, gone.clock) from gone, people
     where users.bot_id = :botId and users.id = people.user_id and users.id <> users.bot_id`,
    { botId, id },
  )
}

/** SQL for whether the user `u` is gone: long without a change, in no conversation, and nothing waits for the user. */
const isGone = `(
  greatest(u.updated_at, u.active_at) < ${until} and u.id <> u.bot_id
  and not exists (select from participants where user_id = u.id)
  and not exists (select from conversations where owner_id = u.id)
  and not exists (select from member_users where user_id = u.id)
  and not exists (
    select from installations
    where installations.id = u.installation_id and integration_id is null and integration = '${inboxIntegration}'
  )
  and not exists (
    select from events
    where events.user_id = u.id and events.bot_id = u.bot_id and events.status in ('pending', 'scheduled')
  )
  and not exists (
    select from workflows where workflows.user_id = u.id and workflows.bot_id = u.bot_id and completed_at is null
  )
)`

/** Users that one look deletes, each with a statement of its own. */
const maxUsersOfLook = 200

/** Deletes users who take part in no conversation, with their states and files. Users of the inbox go with those they stand for. */
export async function deleteOldUsers(transaction: Database, given: RetentionScope): Promise<RetentionStep> {
  const scope = { ...given, limit: Math.min(given.limit, maxUsersOfLook) }
  const { botId, days } = scope
  const [row] = await query<ProgressRow & { ids: string[] }>(
    transaction,
    `with looked as materialized (${nextRows('users', 'id')})
     select ${progress}, array(select u.id from looked join users u on u.id = looked.id where ${isGone}) as ids`,
    bindingsOf(scope),
  )
  const { ids } = row!
  await query(transaction, 'select id from users where id = any(:ids::text[]) order by id for update', { ids })
  // A second statement sees the conversations that were begun until the lock.
  const gone = await query<{ id: string }>(
    transaction,
    `select u.id from users u where u.bot_id = :botId and u.id = any(:ids::text[]) and ${isGone}`,
    { botId, ids, days },
  )
  for (const { id } of gone) await deleteUser(transaction, botId, id)
  return stepOf(row!, scope, { user: gone.length })
}

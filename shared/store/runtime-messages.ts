import { endedByBytes } from './page-bytes.ts'
import { toPage, type Page, type PageRequest } from './pagination.ts'
import type { Change, TagMatch } from '../models/tags.ts'
import { nextMessage, conversationColumns } from './conversation-log.ts'
import { query, type Database } from './database.ts'
import { journalBindings, journalInsert, newestRun, type NewJournalEntry } from './journal.ts'
import { applyMatch, type Filters } from './filters.ts'
import { incomingEventInsert, messageInsert, oneMessage } from './insert-rows.ts'
import { largeOfMessages, messageBindings, type NewMessage } from './messages.ts'
import { inScope, scopeBindings, type Scope } from './scope.ts'
import type { MessageRow } from '../models/tables.ts'

/** Messages as the runtime API shows them to bots and integrations; `messages.ts` stores those of bots. */

/** A message of an integration's user. */
export interface NewReceivedMessage extends NewMessage {
  installationId: string
  conversationId: string
  userId: string
  /** The event that makes the bot handle the message. */
  event: { id: string; type: string; integration: string }
}

const received = { message: messageInsert(oneMessage, `'incoming'`), event: incomingEventInsert(oneMessage) }

/**
 * Stores a message that an integration has received, with its event and the run's journal entry, in one statement. Its
 * author becomes a participant of the conversation. Undefined when the installation has no such conversation, or when
 * the run is no longer its event's newest.
 *
 * @throws a unique violation when the call is recorded already
 */
export async function insertReceivedMessage(
  db: Database,
  message: NewReceivedMessage,
  effect?: NewJournalEntry,
): Promise<MessageRow | undefined> {
  const [row] = await query<MessageRow>(
    db,
    `with conversation as (
       ${nextMessage}
       where id = :conversationId and bot_id = :botId and installation_id = :installationId
         ${effect ? `and exists (${newestRun})` : ''}
       returning ${conversationColumns}
     ), ${effect ? `effect as (${journalInsert} from conversation), ` : ''}participant as (
       insert into participants (conversation_id, user_id, bot_id) select id, :userId, bot_id from conversation
       on conflict (conversation_id, user_id) do nothing
     ), event as (
       ${received.event}
     )
     ${received.message}`,
    {
      ...messageBindings(message),
      conversationId: message.conversationId,
      installationId: message.installationId,
      userId: message.userId,
      eventId: message.event.id,
      eventType: message.event.type,
      integration: message.event.integration,
      ...(effect && journalBindings(effect)),
    },
  )
  return row
}

const imported = `
  with moved as (
    update conversations set messaged_at = :createdAt
    where id = :conversationId and ${inScope} and messaged_at < :createdAt
  )
  ${messageInsert(
    { ...oneMessage, at: ':createdAt', from: `conversations where id = :conversationId and ${inScope}` },
    ':direction',
  )}`

/**
 * Stores a message from elsewhere with its own time; no signal is recorded. Undefined when there is no such
 * conversation.
 */
export async function insertImportedMessage(
  db: Database,
  scope: Scope,
  message: NewMessage & {
    conversationId: string
    userId: string
    direction: MessageRow['direction']
    createdAt: Date
  },
): Promise<MessageRow | undefined> {
  const [row] = await query<MessageRow>(db, imported, {
    ...messageBindings(message),
    ...scopeBindings(scope),
    conversationId: message.conversationId,
    userId: message.userId,
    direction: message.direction,
    createdAt: message.createdAt,
  })
  return row
}

export async function findRuntimeMessage(db: Database, scope: Scope, id: string): Promise<MessageRow | undefined> {
  const [row] = await query<MessageRow>(
    db,
    `select messages.* from messages join conversations on conversations.id = conversation_id
     where messages.id = :id and ${inScope}`,
    { ...scopeBindings(scope), id },
  )
  return row
}

/** Finds a conversation's message by its tags; of several, the oldest. */
export async function findMatchingMessage(
  db: Database,
  where: { botId: string; conversationId: string },
  match: TagMatch,
): Promise<MessageRow | undefined> {
  return db('messages')
    .where({ bot_id: where.botId, conversation_id: where.conversationId })
    .modify(applyMatch, 'messages', match)
    .orderBy(['created_at', 'id'])
    .first()
}

/** Changes a message's tags, and its content when given. The message must be in the caller's scope. */
export async function updateRuntimeMessage(
  db: Database,
  where: { botId: string; id: string },
  change: { tags: Change; content?: Pick<NewMessage, 'payload' | 'metadata'> | undefined },
): Promise<MessageRow | undefined> {
  const { tags, content } = change
  const [row] = await db('messages')
    .where({ bot_id: where.botId, id: where.id })
    .update({
      tags: db.raw('(tags || ?::jsonb) - ?::text[]', [JSON.stringify(tags.set), tags.removed]),
      ...(content && { payload: content.payload, metadata: content.metadata ?? null }),
      updated_at: db.fn.now(3),
    })
    .returning('*')
  return row
}

/** One page of the messages in a scope, newest first, optionally of one conversation. */
export async function pageOfRuntimeMessages(
  db: Database,
  scope: Scope,
  filters: Filters & { conversationId?: string },
  request: PageRequest,
): Promise<Page<MessageRow>> {
  const { installation } = scope
  const { conversationId, tags = {}, afterDate, beforeDate } = filters
  const { after, limit } = request
  const isTagged = Object.keys(tags).length > 0
  const conditions = [
    'messages.bot_id = :botId',
    conversationId !== undefined && 'messages.conversation_id = :conversationId',
    installation && 'installation_id = :installationId',
    // The second condition is that of the partial index.
    isTagged && `messages.tags @> :tags::jsonb and messages.tags <> '{}'`,
    afterDate && 'messages.created_at >= :afterDate',
    beforeDate && 'messages.created_at <= :beforeDate',
    after && '(messages.created_at, messages.id) < (:afterTime, :afterId)',
  ].filter(Boolean)
  // Of few forms, so that PostgreSQL need not parse and plan it again.
  const read = `select messages.* from messages
    ${installation ? 'join conversations on conversations.id = messages.conversation_id' : ''}
    where ${conditions.join(' and ')}
    order by messages.created_at desc, messages.id desc limit :limit`
  const rows = await query<MessageRow>(db, endedByBytes(read, largeOfMessages), {
    botId: scope.botId,
    conversationId: conversationId ?? null,
    installationId: installation?.id ?? null,
    tags: JSON.stringify(tags),
    afterDate: afterDate ? new Date(afterDate) : null,
    beforeDate: beforeDate ? new Date(beforeDate) : null,
    afterTime: after?.createdAt ?? null,
    afterId: after?.id ?? null,
    limit: limit + 1,
  })
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}

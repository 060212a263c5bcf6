import { largeOfTagged, readPage } from './page-bytes.ts'
import { page, toPage, type Page } from './pagination.ts'
import type { SortedPageRequest } from './listing.ts'
import { newId } from '../ids.ts'
import type { RuntimeConversationRow } from '../models/conversation.ts'
import type { Change, TagMatch } from '../models/tags.ts'
import { startedInsert } from './conversation-started.ts'
import type { CreatedConversation } from './conversations.ts'
import { query, type Database } from './database.ts'
import { applyFilters, applyMatch, type Filters } from './filters.ts'
import { countColumns, keepCounts } from './message-counts.ts'
import { inScope, scopeBindings, type Scope } from './scope.ts'
import type { ConversationRow, UserRow } from '../models/tables.ts'

/** Conversations as the runtime API shows them to bots and integrations. */

const columns = `conversations.*, integration, ${countColumns}`

export interface NewRuntimeConversation {
  id: string
  botId: string
  installationId: string
  channel: string
  tags: Record<string, string>
  properties: Record<string, string>
  /** The user whose message creates the conversation. */
  startedBy?: string | undefined
}

/** Stores a conversation without participants. */
export async function insertRuntimeConversation(
  db: Database,
  conversation: NewRuntimeConversation,
): Promise<CreatedConversation<RuntimeConversationRow>> {
  const [row] = await query<CreatedConversation<RuntimeConversationRow>>(
    db,
    `with conversation as (
       insert into conversations (id, bot_id, installation_id, channel, tags, properties)
       values (:id, :botId, :installationId, :channel, :tags, :properties)
       returning *
     ), started as (${startedInsert})
     select conversation.*, integration, 0 as message_count, 0 as counted, exists (select from started) as has_started_event
     from conversation join installations on installations.id = installation_id`,
    {
      ...conversation,
      tags: JSON.stringify(conversation.tags),
      properties: JSON.stringify(conversation.properties),
      startedId: newId('evt'),
      startedBy: conversation.startedBy ?? null,
    },
  )
  return row!
}

export async function findRuntimeConversation(
  db: Database,
  scope: Scope,
  id: string,
): Promise<RuntimeConversationRow | undefined> {
  const [row] = await query<RuntimeConversationRow>(
    db,
    `select ${columns} from conversations join installations on installations.id = installation_id
     where conversations.id = :id and ${inScope}`,
    { ...scopeBindings(scope), id },
  )
  if (row) await keepCounts(db, [row])
  return row
}

/** As `findRuntimeConversation`, without the number of messages. */
export async function findScopedConversation(
  db: Database,
  scope: Scope,
  id: string,
): Promise<ConversationRow | undefined> {
  const [row] = await query<ConversationRow>(db, `select * from conversations where id = :id and ${inScope}`, {
    ...scopeBindings(scope),
    id,
  })
  return row
}

/** Changes tags and properties. Undefined when there is no such conversation. */
export async function updateRuntimeConversation(
  db: Database,
  scope: Scope,
  id: string,
  { tags, properties }: { tags: Change; properties: Change },
): Promise<RuntimeConversationRow | undefined> {
  const [row] = await query<RuntimeConversationRow>(
    db,
    `with conversations as (
       update conversations set
         tags = (tags || :setTags::jsonb) - :removedTags::text[],
         properties = (properties || :setProperties::jsonb) - :removedProperties::text[],
         updated_at = now()
       where id = :id and ${inScope}
       returning *
     )
     select ${columns} from conversations join installations on installations.id = installation_id`,
    {
      ...scopeBindings(scope),
      id,
      setTags: JSON.stringify(tags.set),
      removedTags: tags.removed,
      setProperties: JSON.stringify(properties.set),
      removedProperties: properties.removed,
    },
  )
  return row
}

/** Finds an installation's conversation of a channel by its tags; of several, the oldest. */
export async function findMatchingConversation(
  db: Database,
  where: { installationId: string; channel: string },
  match: TagMatch,
): Promise<RuntimeConversationRow | undefined> {
  return selectConversations(db)
    .where({ installation_id: where.installationId, channel: where.channel })
    .modify(applyMatch, 'conversations', match)
    .orderBy(['conversations.created_at', 'conversations.id'])
    .first() as Promise<RuntimeConversationRow | undefined>
}

export interface ConversationFilters extends Filters {
  /** The users who must all be participants. */
  participantIds?: string[]
  /** The integration's name or alias. */
  integrationName?: string
  channel?: string
  minMessageCount?: number
  maxMessageCount?: number
}

/** One page of the conversations in a scope. */
export async function pageOfRuntimeConversations(
  db: Database,
  scope: Scope,
  filters: ConversationFilters,
  request: SortedPageRequest,
): Promise<Page<RuntimeConversationRow>> {
  const { participantIds, integrationName, channel, minMessageCount, maxMessageCount } = filters
  const read = selectConversations(db)
    .where('conversations.bot_id', scope.botId)
    .modify((query) => {
      if (scope.installation) query.where('installation_id', scope.installation.id)
      if (channel !== undefined) query.where({ channel })
      if (integrationName !== undefined) query.whereRaw('? in (integration, alias)', [integrationName])
      // By conversation, so that a page of a user with many conversations reads no more of them than it has.
      for (const userId of new Set(participantIds)) query.whereRaw(`exists (${participation})`, [userId])
      if (minMessageCount) query.whereRaw(`exists (${messageAfter})`, [minMessageCount - 1])
      if (maxMessageCount !== undefined) query.whereRaw(`not exists (${messageAfter})`, [maxMessageCount])
      applyFilters(query, 'conversations', filters)
      page(query, request, `conversations.${request.column}`, 'conversations.id')
    })
  const rows = await readPage<RuntimeConversationRow>(db, read, largeOfTagged, request)
  await keepCounts(db, rows)
  return toPage(rows, request, (row) => ({ createdAt: row[request.column], id: row.id }))
}

const participation = `select from participants where conversation_id = conversations.id and user_id = ?`
/** SQL for a message after the given number of others: it counts no further than the filter needs. */
const messageAfter = `select from messages where conversation_id = conversations.id offset ? limit 1`

function selectConversations(db: Database) {
  return db('conversations')
    .join('installations', 'installations.id', 'conversations.installation_id')
    .select(db.raw(columns))
}

/** Finds a participant of a conversation. */
export async function findParticipant(
  db: Database,
  conversationId: string,
  userId: string,
): Promise<UserRow | undefined> {
  const [row] = await query<UserRow>(
    db,
    `select users.* from participants join users on users.id = user_id
     where conversation_id = :conversationId and user_id = :userId`,
    { conversationId, userId },
  )
  return row
}

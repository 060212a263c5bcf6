import { largeOfTagged, readPage } from './page-bytes.ts'
import { page, toPage, type Page } from './pagination.ts'
import type { SortedPageRequest, TimeColumn } from './listing.ts'
import type { Change, TagMatch } from '../models/tags.ts'
import { query, type Database } from './database.ts'
import { applyFilters, applyMatch, type Filters } from './filters.ts'
import { scopeBindings, userInScope, type Scope } from './scope.ts'
import type { UserRow } from '../models/tables.ts'

/** Users as the runtime API shows them to bots and integrations. */

export async function findRuntimeUser(db: Database, scope: Scope, id: string): Promise<UserRow | undefined> {
  const [row] = await query<UserRow>(db, `select * from users where id = :id and ${userInScope}`, {
    ...scopeBindings(scope),
    id,
  })
  return row
}

/** A change of a user. Omitted fields stay, null ones are removed. */
export interface UserChange {
  tags: Change
  properties: Change
  name?: string | null | undefined
  pictureUrl?: string | null | undefined
  profile?: string | null | undefined
}

/**
 * Changes a user. Undefined when the scope has no such user. Integrations change the bot's own user too, for instance to
 * the name and the picture that it has at their service; its properties are the bot's.
 */
export async function updateRuntimeUser(
  db: Database,
  { botId, installation }: Scope,
  id: string,
  { tags, properties, name, pictureUrl, profile }: UserChange,
): Promise<UserRow | undefined> {
  const changed = (column: string, { set, removed }: Change) =>
    db.raw('(?? || ?::jsonb) - ?::text[]', [column, JSON.stringify(set), removed])
  const isOfBot = id === botId
  const [row] = await db('users')
    .where({ bot_id: botId, id, ...(installation && !isOfBot && { installation_id: installation.id }) })
    .update({
      tags: changed('tags', tags),
      ...(!(installation && isOfBot) && { properties: changed('properties', properties) }),
      ...(name !== undefined && { name }),
      ...(pictureUrl !== undefined && { picture_url: pictureUrl }),
      ...(profile !== undefined && { profile }),
      updated_at: db.fn.now(3),
    })
    .returning('*')
  return row
}

/** Finds a user in a scope by tags; of several, the oldest. */
export async function findMatchingUser(
  db: Database,
  { botId, installation }: Scope,
  match: TagMatch,
): Promise<UserRow | undefined> {
  return db('users')
    .where({ bot_id: botId, ...(installation && { installation_id: installation.id }) })
    .modify(applyMatch, 'users', match)
    .orderBy(['created_at', 'id'])
    .first()
}

export interface UserFilters extends Filters {
  /** The conversation of which the users are participants. */
  conversationId?: string
}

/**
 * One page of the users in a scope.
 *
 * @param range the time column that the filters' dates bound
 */
export async function pageOfRuntimeUsers(
  db: Database,
  { botId, installation }: Scope,
  filters: UserFilters & { range: TimeColumn },
  request: SortedPageRequest,
): Promise<Page<UserRow>> {
  const { conversationId } = filters
  const read = db('users')
    .where({ bot_id: botId, ...(installation && { installation_id: installation.id }) })
    .modify((query) => {
      if (conversationId !== undefined) {
        query.whereIn(
          'id',
          db('participants').where({ bot_id: botId, conversation_id: conversationId }).select('user_id'),
        )
      }
      applyFilters(query, 'users', filters, filters.range)
      page(query, request, request.column)
    })
  const rows = await readPage<UserRow>(db, read, largeOfTagged, request)
  return toPage(rows, request, (row) => ({ createdAt: row[request.column], id: row.id }))
}

import { ApiError, postgresCode, uniqueViolation } from '../errors.ts'
import { newId } from '../ids.ts'
import type { TagCondition } from '../models/tag-filter.ts'
import type { KnowledgeBaseRow } from '../models/tables.ts'
import type { Change, Tags } from '../models/tags.ts'
import { query, type Database } from './database.ts'
import { readPage } from './page-bytes.ts'
import { page, toPage, type Page, type PageRequest } from './pagination.ts'
import { whereTagConditions } from './tag-conditions.ts'

const maxNamedBases = 50

/**
 * Stores a knowledge base.
 * @throws ApiError `AlreadyExists` when the bot has one of that name
 */
export async function insertKnowledgeBase(
  db: Database,
  { botId, name, tags }: { botId: string; name: string; tags: Tags },
): Promise<KnowledgeBaseRow> {
  const [row] = await query<KnowledgeBaseRow>(
    db,
    `insert into knowledge_bases (id, bot_id, name, tags) values (:id, :botId, :name, :tags)
     on conflict (bot_id, name) do nothing returning *`,
    { id: newId('kb'), botId, name, tags: JSON.stringify(tags) },
  )
  if (!row) throw nameTaken(name)
  return row
}

/**
 * Renames a knowledge base and changes its tags. Undefined when the bot has none of that id.
 * @throws ApiError `AlreadyExists` when the bot has another one of that name
 */
export async function updateKnowledgeBase(
  db: Database,
  botId: string,
  { id, name, tags }: { id: string; name: string; tags: Change },
): Promise<KnowledgeBaseRow | undefined> {
  try {
    const [row] = await query<KnowledgeBaseRow>(
      db,
      `update knowledge_bases set name = :name, tags = (tags || :tags::jsonb) - :removed::text[], updated_at = now()
       where bot_id = :botId and id = :id returning *`,
      { botId, id, name, tags: JSON.stringify(tags.set), removed: tags.removed },
    )
    return row
  } catch (error) {
    throw postgresCode(error) === uniqueViolation ? nameTaken(name) : error
  }
}

/** Deletes a knowledge base; its files stay. @returns whether the bot had one of that id */
export async function deleteKnowledgeBase(db: Database, botId: string, id: string): Promise<boolean> {
  const rows = await query(db, 'delete from knowledge_bases where bot_id = :botId and id = :id returning id', {
    botId,
    id,
  })
  return rows.length > 0
}

/** One page of a bot's knowledge bases, the newest first. */
export async function pageOfKnowledgeBases(
  db: Database,
  botId: string,
  tags: TagCondition[],
  request: PageRequest,
): Promise<Page<KnowledgeBaseRow>> {
  const read = db('knowledge_bases')
    .where({ bot_id: botId })
    .modify((list) => {
      whereTagConditions(list, 'knowledge_bases.tags', tags)
      page(list, request)
    })
  const rows = await readPage<KnowledgeBaseRow>(db, read, ['listed.tags'])
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}

function nameTaken(name: string): ApiError {
  return new ApiError('AlreadyExists', `The bot has a knowledge base '${name}' already: choose another name`)
}

/** The knowledge bases that a search names by id or name; all of the bot's when it names none. */
export async function findNamedKnowledgeBases(
  db: Database,
  botId: string,
  { ids, names }: { ids: string[] | undefined; names: string[] | undefined },
): Promise<KnowledgeBaseRow[]> {
  return query<KnowledgeBaseRow>(
    db,
    `select * from knowledge_bases where bot_id = :botId
       and (:ids::text[] is null or id = any(:ids)) and (:names::text[] is null or name = any(:names))
     order by created_at, id limit :maxBases`,
    { botId, ids: ids ?? null, names: names ?? null, maxBases: maxNamedBases },
  )
}

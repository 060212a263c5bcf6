import type { Knex } from 'knex'
import type { TagCondition } from '../models/tag-filter.ts'
import type { PassageRow } from '../models/tables.ts'
import type { Database } from './database.ts'
import { fileBindings, isReadable } from './runtime-files.ts'
import type { Scope } from './scope.ts'
import { whereTagConditions } from './tag-conditions.ts'

/** A passage that a search found. */
export interface FoundPassage extends PassageRow {
  /** From 0 to 1. */
  score: number
}

/** Candidates of each way to search. */
export const candidates = 50

export const passageColumns = `passages.id, passages.file_id, passages.position, passages.subtype, passages.breadcrumb, passages.page, passages.text`

type Condition = (passages: Knex.QueryBuilder) => void

/**
 * The passages of indexed files that a caller may read.
 *
 * @param conditions restrict a query to some passages, one after the other, by the index that finds those of the first, and before
 *   anything else: plans are made for no values, and would begin with all passages of the bot, or once more for each file
 */
export function readablePassages(db: Database, scope: Scope, tags: TagCondition[], conditions: Condition[] = []) {
  const [first, ...others] = conditions
  const passages: Knex.QueryBuilder = first
    ? db.withMaterialized('some', inOrder(db, first, others)).from('some as passages')
    : db('passages')
  return passages
    .joinRaw('join files on files.id = passages.file_id and files.index_generation = passages.generation')
    .where('passages.bot_id', scope.botId)
    .whereRaw(`files.status = 'indexing_completed'`)
    .whereRaw(isReadable, fileBindings(scope))
    .modify((list) => whereTagConditions(list, 'files.tags', tags))
}

/** PostgreSQL does not merge a query with an offset into the one around it. */
function inOrder(db: Database, first: Condition, others: Condition[]): Knex.QueryBuilder {
  const start: Knex.QueryBuilder = db('passages').modify(first)
  return others.reduce(
    (passages, condition) =>
      db.from(passages.offset(db.raw('0') as unknown as number).as('passages')).modify(condition),
    start,
  )
}

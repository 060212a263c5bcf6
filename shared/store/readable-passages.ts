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

/**
 * The passages of indexed files that a caller may read.
 *
 * @param among restricts a query to some passages, by the index that finds them: plans are made for no values, and would begin
 *   with all passages of the bot
 */
export function readablePassages(
  db: Database,
  scope: Scope,
  tags: TagCondition[],
  among?: (passages: Knex.QueryBuilder) => void,
) {
  const some =
    among &&
    db('passages')
      .modify(among)
      .offset(db.raw('0') as unknown as number)
  const passages: Knex.QueryBuilder = some ? db.from(some.as('passages')) : db('passages')
  return passages
    .joinRaw('join files on files.id = passages.file_id and files.index_generation = passages.generation')
    .where('passages.bot_id', scope.botId)
    .whereRaw(`files.status = 'indexing_completed'`)
    .whereRaw(isReadable, fileBindings(scope))
    .modify((list) => whereTagConditions(list, 'files.tags', tags))
}

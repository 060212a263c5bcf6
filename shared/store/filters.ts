import type { Knex } from 'knex'
import type { TagMatch, Tags } from '../models/tags.ts'

/** The filters of lists of users, conversations and messages. */
export interface Filters {
  tags?: Tags
  /** ISO 8601; both ends are inclusive. */
  afterDate?: string
  beforeDate?: string
}

/**
 * Adds filters to a query.
 *
 * @param table the table of the tags and times
 * @param time the column that the dates bound
 */
export function applyFilters(
  query: Knex.QueryBuilder,
  table: string,
  { tags, afterDate, beforeDate }: Filters,
  time = 'created_at',
): void {
  if (tags && Object.keys(tags).length > 0) whereTagged(query, table, tags)
  if (afterDate) void query.where(`${table}.${time}`, '>=', new Date(afterDate))
  if (beforeDate) void query.where(`${table}.${time}`, '<=', new Date(beforeDate))
}

/** Restricts a query to the rows whose tags match. */
export function applyMatch(query: Knex.QueryBuilder, table: string, { present, absent, onlyOf }: TagMatch): void {
  whereTagged(query, table, present)
  if (absent.length > 0) void query.whereRaw('not jsonb_exists_any(??, ?)', [`${table}.tags`, absent])
  if (onlyOf) {
    void query.whereRaw('(select count(*) from jsonb_object_keys(??) as key where starts_with(key, ?)) = ?', [
      `${table}.tags`,
      onlyOf.prefix,
      Object.keys(present).length,
    ])
  }
}

/** The second condition is that of the partial index. */
function whereTagged(query: Knex.QueryBuilder, table: string, tags: Tags): void {
  void query.whereRaw(`?? @> ?::jsonb and ?? <> '{}'`, [`${table}.tags`, JSON.stringify(tags), `${table}.tags`])
}

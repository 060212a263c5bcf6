import { joined, sql, type Sql } from '../store/sql.ts'
import type { ColumnType } from './column-reference.ts'

/** The fields of the columns that a search looks at. */
export function searchableFields(columns: SearchableColumns): string[] {
  return Object.values(columns).flatMap((column) => (column['x-zui']?.searchable === true ? [column.field] : []))
}

/** Columns by name, with their settings for the search. */
export type SearchableColumns = Readonly<Record<string, ColumnType & Searchable>>

interface Searchable {
  'x-zui'?: { searchable?: boolean | undefined } | undefined
}

/**
 * How near a row is to a text, from 0 to 1: the share of the trigrams of the text that a part of the row has
 * (`pg_trgm`). Without that extension, the rank of the words that the row has in common with the text.
 *
 * @param fields to look at, at least one
 */
export function similarityOf(fields: string[], text: string, hasTrigrams: boolean): Sql {
  const content = sql`concat_ws(' ', ${joined(
    fields.map((field) => sql`r.data ->> ${field}::text`),
    ', ',
  )})`
  if (hasTrigrams) return sql`word_similarity(${text}::text, ${content})::float8`
  const anyWord = sql`replace(plainto_tsquery('simple', ${text}::text)::text, ' & ', ' | ')::tsquery`
  return sql`ts_rank_cd(to_tsvector('simple', ${content}), ${anyWord}, 32)::float8`
}

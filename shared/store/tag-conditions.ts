import type { Knex } from 'knex'
import type { TagCondition } from '../models/tag-filter.ts'

/** Restricts a query to rows whose tags fulfil all conditions. @param column of the tags, for instance `files.tags` */
export function whereTagConditions(query: Knex.QueryBuilder, column: string, conditions: TagCondition[]): void {
  for (const { tag, anyOf, or, noneOf, exists } of conditions) {
    if (anyOf) {
      // Containment has an index, whose condition is the second one.
      void query.where((either) => {
        for (const value of anyOf) void either.orWhereRaw('?? @> ?::jsonb', [column, toObject(tag, value)])
        for (const value of or?.anyOf ?? [])
          void either.orWhereRaw('?? @> ?::jsonb', [column, toObject(or!.tag, value)])
        if (anyOf.length === 0) void either.whereRaw('false')
      })
      void query.whereRaw(`?? <> '{}'`, [column])
    }
    if (noneOf) void query.whereRaw('coalesce(?? ->> ? <> all(?::text[]), true)', [column, tag, noneOf])
    if (exists !== undefined) void query.whereRaw('jsonb_exists(??, ?) = ?', [column, tag, exists])
  }
}

/** A computed name, unlike a written one, makes `__proto__` a field like any other. */
function toObject(tag: string, value: string): string {
  return JSON.stringify({ [tag]: value })
}

import { sql, type Sql } from '../store/sql.ts'
import { findReference, type ColumnTypes } from './column-reference.ts'

/** The part of each row that a request selects. */
export interface Selection {
  /** The selected part of `r.data` as one `jsonb` array. */
  data: Sql
  /** Makes the row's data from that array, by the fields of the columns. */
  assemble(values: unknown[]): Record<string, unknown>
}

/**
 * Selects columns, and elements by their paths, which are answered nested: `customer.name` as `{ customer: { name } }`.
 * Columns of every table are no part of it, since every answer has them.
 *
 * @throws ApiError `InvalidQuery` when no column has one of the names
 */
export function selectionOf(columns: ColumnTypes, names: readonly string[]): Selection {
  const paths = new Map<string, { path: readonly string[]; json: Sql }>()
  for (const name of names) {
    const reference = findReference(columns, name)
    if (!reference.isSystem) paths.set(JSON.stringify(reference.path), reference)
  }
  // A whole value comes before its parts, which it contains.
  const selected = [...paths.values()].toSorted((one, other) => one.path.length - other.path.length)
  const kept = selected.filter(
    ({ path }, index) => !selected.slice(0, index).some((other) => other.path.every((key, at) => path[at] === key)),
  )
  const elements = kept.map(({ json }) => json)
  return {
    data: elements.reduce((array, json) => sql`${array} || jsonb_build_array(${json})`, sql`'[]'::jsonb`),
    assemble: (values) => nested(kept.map(({ path }, index) => ({ path, value: values[index] ?? null }))),
  }
}

type Tree = Map<string, Tree | { value: unknown }>

/** Keys are those of a stranger: they become properties as they are, `__proto__` too. */
function nested(parts: { path: readonly string[]; value: unknown }[]): Record<string, unknown> {
  const root: Tree = new Map()
  for (const { path, value } of parts) {
    let at = root
    for (const key of path.slice(0, -1)) {
      const inner = at.get(key)
      const next: Tree = inner instanceof Map ? inner : new Map<string, Tree | { value: unknown }>()
      at.set(key, next)
      at = next
    }
    at.set(path.at(-1)!, { value })
  }
  return toObject(root)
}

function toObject(tree: Tree): Record<string, unknown> {
  return Object.fromEntries(
    Array.from(tree, ([key, inner]) => [key, inner instanceof Map ? toObject(inner) : inner.value]),
  )
}

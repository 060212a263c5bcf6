import type { Database } from './database.ts'

/** A value of a statement. It never becomes part of the statement's text. */
export type Binding = string | number | boolean | string[]

/** A part of a statement, with its values in the order of its question marks. */
export interface Sql {
  text: string
  bindings: Binding[]
}

/**
 * Makes a part of a statement from a template. Parts are inserted; every other value becomes a binding. A question mark
 * in the template itself would be taken for a binding: operators that have one are written as functions.
 */
export function sql(texts: TemplateStringsArray, ...values: (Sql | Binding)[]): Sql {
  let text = texts[0]!
  const bindings: Binding[] = []
  for (const [index, value] of values.entries()) {
    if (isPart(value)) {
      text += value.text
      bindings.push(...value.bindings)
    } else {
      text += '?'
      bindings.push(value)
    }
    text += texts[index + 1]!
  }
  return { text, bindings }
}

function isPart(value: Sql | Binding): value is Sql {
  return typeof value === 'object' && !Array.isArray(value)
}

/** Joins parts with a fixed text. */
export function joined(parts: readonly Sql[], separator: ' and ' | ' or ' | ', '): Sql {
  return {
    text: parts.map(({ text }) => text).join(separator),
    bindings: parts.flatMap(({ bindings }) => bindings),
  }
}

/**
 * Runs a statement that has many forms. Unlike `query`, it is not kept as a prepared statement, which a process would
 * collect without end.
 */
export async function run<Row>(db: Database, { text, bindings }: Sql): Promise<Row[]> {
  const { rows } = await db.raw<{ rows: Row[] }>(text, bindings)
  return rows
}

/** PostgreSQL refuses a NOTIFY payload of 8,000 bytes; larger ones are stored in a table. */
export const largestNotification = 7900

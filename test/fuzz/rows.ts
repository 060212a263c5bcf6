import { Client, escapeIdentifier } from 'pg'
import type { Ids } from './tenant.ts'

/** Rows of one tenant by table, each as JSON. */
export type Rows = Map<string, Set<string>>

/** Its rows are activity counts, which are written with a delay. */
const countedLater = 'bot_activity'

/** Reads all rows that belong to a tenant: one of its ids is in a column of the corresponding name. */
export async function readRows(databaseUrl: string, ids: Ids): Promise<Rows> {
  const known = Object.values(ids).flat()
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows: columns } = await client.query<{ table_name: string; names: string[] }>(
      `select table_name, array_agg(column_name::text) as names from information_schema.columns
        where table_schema = 'public' and (column_name = 'id' or column_name like '%\\_id') and data_type = 'text'
          and table_name <> $1
        group by table_name`,
      [countedLater],
    )
    const found: Rows = new Map()
    for (const { table_name: table, names } of columns) {
      const { rows } = await client.query<{ row: string }>(
        `select to_jsonb(each)::text as row from ${escapeIdentifier(table)} as each
          where array[${names.map((name) => escapeIdentifier(name)).join(', ')}] && $1::text[]`,
        [known],
      )
      found.set(table, new Set(rows.map(({ row }) => row)))
    }
    return found
  } finally {
    await client.end()
  }
}

/** Describes the rows that exist in only one of the two states. */
export function differencesOf(before: Rows, after: Rows): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((table) => {
    const [then, now] = [before.get(table) ?? new Set<string>(), after.get(table) ?? new Set<string>()]
    const gone = [...then.difference(now)].map((row) => `${table}, gone or changed: ${row}`)
    const come = [...now.difference(then)].map((row) => `${table}, come or changed: ${row}`)
    return [...gone, ...come]
  })
}

import knex from 'knex'
import { Client, escapeIdentifier } from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { migrateTo, migrations } from '../../migrations/migrations.ts'
import { administer, urlOf } from '../support/databases.ts'
import { fillTables, type FilledRow } from '../support/fill-tables.ts'

const name = `${inject('templateDatabase')}_states`
const url = urlOf(inject('databaseUrl'), name)
beforeAll(() => administer(inject('databaseUrl'), `create database ${escapeIdentifier(name)}`))
afterAll(() => administer(inject('databaseUrl'), `drop database if exists ${escapeIdentifier(name)} with (force)`))

/** A row that was inserted when the schema had this state. */
interface FormerRow extends FilledRow {
  state: string
}

/** Columns that triggers count in, which the insertion of other rows changes. */
const counters = new Set(['file_usage.files', 'file_usage.bytes', 'bot_tables.row_count', 'message_counts.counted'])

/** The changes of values that migrations intend, as `table.column`, by the last state whose rows they concern. */
const intended: Record<string, { until: string; value: string | null }> = {
  // 035_separate_ids: a user with an external id and without the tag that createUser left came with a key that was signed elsewhere.
  'users.keys_since': { until: '022_version_authors', value: null },
}

/** The schema at each state, with a row of that state in each table. */
async function fillAllStates(client: Client): Promise<FormerRow[]> {
  const db = knex({ client: 'pg', connection: url, pool: { min: 0, max: 1 } })
  const rows: FormerRow[] = []
  const done: string[] = []
  try {
    for (const state of Object.keys(migrations)) {
      done.push(state)
      await db.transaction((transaction) => migrateTo(transaction, done))
      const filled = await fillTables(client, `mark ${done.length}`)
      rows.push(...filled.map((row) => ({ state, ...row })))
    }
    return rows
  } finally {
    await db.destroy()
  }
}

test('rows of every state of the schema keep their values in all later migrations', async () => {
  const client = new Client(url)
  await client.connect()
  try {
    const former = await fillAllStates(client)
    const tables = new Set(former.map(({ table }) => table))
    expect(tables.size).toBeGreaterThan(60)
    const lost: string[] = []
    for (const table of tables) {
      const present = await readRows(client, table)
      lost.push(...former.filter((row) => row.table === table).flatMap((row) => describeLoss(row, present)))
    }
    expect(lost).toEqual([])
  } finally {
    await client.end()
  }
}, 120_000)

/** All rows of a table as text; the columns that it has now. */
async function readRows(client: Client, table: string) {
  const { rows: columns } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
    [escapeIdentifier(table)],
  )
  const names = columns.map(({ name }) => name)
  const asText = names.map((each) => `${escapeIdentifier(each)}::text`).join(', ')
  // A table that is gone has lost all its rows.
  if (names.length === 0) return { names, rows: [] }
  const { rows } = await client.query<Record<string, string | null>>(`select ${asText} from ${escapeIdentifier(table)}`)
  return { names, rows }
}

/** Describes how the row that is most like a former one differs from it; nothing where one is equal. */
function describeLoss(
  { state, table, values }: FormerRow,
  { names, rows }: Awaited<ReturnType<typeof readRows>>,
): string[] {
  const columns = Object.keys(values).filter((column) => names.includes(column) && !counters.has(`${table}.${column}`))
  const removed = Object.keys(values).filter((column) => !names.includes(column))
  const expected = (column: string) => {
    const change = intended[`${table}.${column}`]
    return change && isUntil(state, change.until) ? change.value : values[column]
  }
  const differences = rows.map((row) => columns.filter((column) => row[column] !== expected(column)))
  const [least] = differences.toSorted((one, other) => one.length - other.length)
  if (!least) return [`${table} of ${state}: the row is gone`]
  return [
    ...least.map((column) => `${table}.${column} of ${state} is no longer ${values[column]}`),
    ...removed.map((column) => `${table}.${column} of ${state} was removed`),
  ]
}

function isUntil(state: string, until: string): boolean {
  const states = Object.keys(migrations)
  return states.indexOf(state) <= states.indexOf(until)
}

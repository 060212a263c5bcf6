import { escapeIdentifier, type Client } from 'pg'

interface Column {
  name: string
  type: string
  isNullable: boolean
  /** The values that a check permits. */
  choices: string[]
  /** The column of another table that it refers to. */
  refersTo: { table: string; column: string } | null
}

interface Table {
  table: string
  columns: Column[]
}

/** A row that was inserted, as text by column. */
export interface FilledRow {
  table: string
  /** Identifies it among those of its table. */
  values: Record<string, string | null>
}

/** Columns that stay null, or have another value than that of their type, because a check concerns several columns. */
const values: Record<string, (mark: string) => string | null> = {
  'installations.schedule_from': () => '2026-01-02T03:04:05Z',
  'messages.origin': () => 'synthetic',
  'model_budgets.workspace_id': () => null,
  'model_spending.workspace_id': () => null,
  'preferences.workspace_id': () => null,
  'tokens.bot_id': () => null,
  'tokens.integration_id': () => null,
  'bot_activity.seconds': () => '60',
  'bot_versions.bundle_hash': () => null,
}

/**
 * Inserts one row into each table of any state of the schema, by the types, references and checks of its columns: every
 * column has a value where that is permitted.
 *
 * @param mark distinguishes the row from those of other calls
 */
export async function fillTables(client: Client, mark: string): Promise<FilledRow[]> {
  const filled: FilledRow[] = []
  for (const { table, columns } of inOrder(await readTables(client))) {
    const given = columns.map((column) => valueOf(table, column, mark, filled))
    const names = columns.map(({ name }) => escapeIdentifier(name))
    const places = columns.map(({ type }, index) => `$${index + 1}::text::${type}`)
    const statement =
      `insert into ${escapeIdentifier(table)} (${names.join(', ')}) values (${places.join(', ')}) ` +
      `returning ${names.map((name) => `${name}::text`).join(', ')}`
    try {
      const { rows } = await client.query<Record<string, string | null>>(statement, given)
      filled.push({ table, values: rows[0]! })
    } catch (cause) {
      throw new Error(`${table} cannot be filled with ${JSON.stringify(given)}: ${String(cause)}`, { cause })
    }
  }
  return filled
}

function valueOf(table: string, column: Column, mark: string, filled: FilledRow[]): string | null {
  const { name, type, choices, refersTo } = column
  const own = values[`${table}.${name}`]
  if (own) return own(mark)
  if (refersTo) {
    const other = filled.find((row) => row.table === refersTo.table)
    return other?.values[refersTo.column] ?? null
  }
  if (choices.length > 0) return choices[0]!
  if (type.endsWith('[]')) return `{${mark}}`
  if (type.startsWith('timestamp')) return '2026-01-02 03:04:05.678+00'
  const digits = Number(/\d+/.exec(mark)?.[0] ?? 0)
  const ofType: Record<string, string> = {
    jsonb: JSON.stringify({ mark, text: `a "quoted" \\ line\nand\ttab of ${mark}` }),
    integer: String((digits % 30) + 1),
    bigint: String(digits + 1),
    smallint: '1',
    'double precision': '0.1',
    real: '0.5',
    numeric: '12345.678901',
    boolean: 'true',
    date: '2026-01-02',
    uuid: `00000000-0000-4000-8000-${String(digits).padStart(12, '0')}`,
    bytea: `\\x5c2e0a${Buffer.from(mark).toString('hex')}`,
    tsvector: `'${mark}':1A`,
    vector: `[0.25,${digits}]`,
    text: `${table}.${name} ${mark}`,
  }
  const value = ofType[type]
  if (value === undefined) throw new Error(`There is no value for the type ${type} of ${table}.${name}`)
  return value
}

/** Tables after those that they refer to. */
function inOrder(tables: Table[]): Table[] {
  const ordered: Table[] = []
  let waiting = tables
  while (waiting.length > 0) {
    const isReady = ({ table, columns }: Table, mayBeNull: boolean) =>
      columns.every(
        ({ refersTo, isNullable }) =>
          !refersTo ||
          refersTo.table === table ||
          (mayBeNull && isNullable) ||
          !waiting.some((other) => other.table === refersTo.table),
      )
    const referrers = ({ table }: Table) =>
      waiting.filter(({ columns }) => columns.some(({ refersTo }) => refersTo?.table === table)).length
    // Of tables that refer to each other, the one that most others need.
    const next =
      waiting.find((table) => isReady(table, false)) ??
      waiting.filter((table) => isReady(table, true)).toSorted((one, other) => referrers(other) - referrers(one))[0]
    if (!next) throw new Error(`These tables need each other: ${waiting.map(({ table }) => table).join(', ')}`)
    ordered.push(next)
    waiting = waiting.filter((table) => table !== next)
  }
  return ordered
}

async function readTables(client: Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select relname as "table", json_agg(json_build_object(
       'name', attname, 'type', format_type(atttypid, null), 'isNullable', not attnotnull,
       'choices', coalesce((select array_agg(match[1]) from pg_constraint,
          regexp_matches(pg_get_constraintdef(oid), '''([^'']+)''::text', 'g') match
          where conrelid = attrelid and contype = 'c' and conkey = array[attnum]
            and pg_get_constraintdef(oid) like '%ANY%'), '{}'),
       'refersTo', (select json_build_object('table', confrelid::regclass::text, 'column', other.attname)
          from pg_constraint, unnest(conkey, confkey) as pair(own, foreign_key)
          join pg_attribute other on other.attnum = pair.foreign_key
          where conrelid = pg_attribute.attrelid and contype = 'f' and pair.own = pg_attribute.attnum
            and other.attrelid = confrelid and not (pg_attribute.attnotnull and exists (
              select from pg_attribute partner
              where partner.attrelid = conrelid and partner.attnum = any (conkey) and not partner.attnotnull))
          order by cardinality(conkey) limit 1)
     ) order by attnum) as columns
     from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped and attidentity = '' and attgenerated = ''
     where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not like 'knex%'
     group by relname order by relname`,
  )
  return rows
}

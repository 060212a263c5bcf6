import { escapes, type PersonTerms } from '../models/person-terms.ts'
import { postgresCode } from '../errors.ts'
import { query, type Database } from './database.ts'
import { naming, type PersonSource } from './person-sources.ts'

/** The part of a table that one statement reads. */
export interface SearchStep {
  source: PersonSource
  botId: string
  /** The part of the table, for sources that have parents. */
  parent: string
  /** The key of the last row that was read, as text; empty at the beginning. */
  after: string[]
  /** The number of rows to read. */
  limit: number
}

/** By which rows are found. */
export interface PersonSearch {
  terms: PersonTerms | null
  users: string[]
  conversations: string[]
}

export interface FoundRow {
  /** The columns of the order, as text. */
  key: string[]
  address: Record<string, unknown>
  /** Whether the row is the person's own, rather than naming the person. */
  isLinked: boolean
}

export interface SearchResult {
  /** Rows that were read. */
  looked: number
  /** The key of the last one. */
  last: string[]
  found: FoundRow[]
}

const first = { timestamptz: '-infinity', date: '-infinity', text: '', bigint: '-1' } as const

/**
 * Reads the next rows of a table, and finds those that are the person's or name the person. The identifiers are bindings.
 *
 * @throws the error of PostgreSQL when the statement takes longer than the transaction allows
 */
export async function searchStep(
  db: Database,
  { source, botId, parent, after, limit }: SearchStep,
  { terms, users, conversations }: PersonSearch,
): Promise<SearchResult> {
  const keys = source.key.map(([, type], index) => [`after${index}`, after[index] ?? first[type]] as const)
  const [row] = await query<{ looked: number; last: string[] | null; found: FoundRow[] | null }>(
    db,
    statementOf(source),
    {
      botId,
      parent,
      limit,
      users,
      conversations,
      // An expression that matches nothing.
      loose: terms?.loose ?? '(?!)',
      strict: terms?.strict ?? '(?!)',
      escapes,
      ...Object.fromEntries(keys),
    },
  )
  return { looked: row!.looked, last: row!.last ?? after, found: row!.found ?? [] }
}

/** PostgreSQL ends a statement that takes this long. */
const maxMilliseconds = 5000
const canceled = '57014'

/** Lets the statements of a transaction take a bounded time. */
export async function boundTime(transaction: Database): Promise<void> {
  await transaction.raw(`select set_config('statement_timeout', ?, true)`, [String(maxMilliseconds)])
}

/** Whether a statement took longer than `boundTime` allows: another step may read fewer rows. */
export function isTooSlow(error: unknown, { limit }: Pick<SearchStep, 'limit'>): boolean {
  return postgresCode(error) === canceled && limit > 1
}

/** As `searchStep`, in a transaction of its own. @returns `slow` when fewer rows have to be read */
export async function searchWithin(
  db: Database,
  step: SearchStep,
  search: PersonSearch,
): Promise<SearchResult | 'slow'> {
  try {
    return await db.transaction(async (transaction) => {
      await boundTime(transaction)
      return searchStep(transaction, step, search)
    })
  } catch (error) {
    if (isTooSlow(error, step)) return 'slow'
    throw error
  }
}

/** One row of a table with all its columns; undefined when it is gone. */
export async function readRow(
  db: Database,
  { source, botId, parent, key }: Pick<SearchStep, 'source' | 'botId' | 'parent'> & { key: string[] },
): Promise<Record<string, unknown> | undefined> {
  const { from, scope, key: columns } = source
  const conditions = columns.map(([column, type], index) => `${column} = :key${index}::${type}`)
  const [found] = await query<{ row: Record<string, unknown> }>(
    db,
    `select to_jsonb(t) as row from ${from} where ${scope} and ${conditions.join(' and ')}`,
    { botId, parent, ...Object.fromEntries(key.map((value, index) => [`key${index}`, value])) },
  )
  return found?.row
}

const statements = new Map<PersonSource, string>()

function statementOf(source: PersonSource): string {
  const known = statements.get(source)
  if (known !== undefined) return known
  const { from, scope, key, texts, also, linked, address } = source
  const columns = key.map(([column]) => column).join(', ')
  const statement = `
    with looked as materialized (
      select row_number() over (order by ${columns}) as number,
        jsonb_build_array(${key.map(([column]) => `${column}::text`).join(', ')}) as key,
        ${address} as address, coalesce(${linked}, false) as is_linked,
        ${naming('content.text')}
          ${also === undefined ? '' : `or ${also}`} as is_named
      from ${from} cross join lateral (select concat_ws(' ', ${texts.join(', ')}) as text offset 0) content
      where ${scope} and (${columns}) > (${key.map(([, type], index) => `:after${index}::${type}`).join(', ')})
      order by ${columns} limit :limit
    )
    select (select count(*)::integer from looked) as looked,
      (select key from looked order by number desc limit 1) as last,
      (select jsonb_agg(jsonb_build_object('key', key, 'address', address, 'isLinked', is_linked))
       from looked where is_linked or is_named) as found`
  statements.set(source, statement)
  return statement
}

/** The next part of a source that has parts; undefined after the last one. */
export async function nextParent(
  db: Database,
  { parents }: PersonSource,
  where: { botId: string; parent: string },
): Promise<string | undefined> {
  const [row] = await query<{ id: string }>(db, parents!, where)
  return row?.id
}

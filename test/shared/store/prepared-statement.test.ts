import { Client, Connection, types } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { destroySocket, statementMilliseconds } from '#shared/store/connections.ts'
import { openDatabase, query, transact, type Database } from '#shared/store/database.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
/** One connection, so that a statement meets what the one before has left. */
let db: Database
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  db = openDatabase({ ...platform.context.config.database, poolSize: 1 })
})
afterAll(async () => {
  await db.destroy()
  await platform[Symbol.asyncDispose]()
})

const ofEveryKind = `
  select :count::integer as count, 9007199254740993 as large, 1.5::numeric as numeric, :isSo::boolean as is_so,
    :at::timestamptz as at, :bytes::bytea as bytes, :words::text[] as words, jsonb_build_object('a', :text::text) as json,
    null::text as nothing, 'first' as twice, 'second' as twice`

test('values and rows are those of queries of pg', async () => {
  const bindings = {
    count: 3,
    isSo: true,
    at: new Date('2026-11-27T05:06:07.089Z'),
    bytes: Buffer.from([0, 255]),
    words: ['a "b"', 'c,d'],
    text: 'ö {}',
  }
  const sql = ofEveryKind.replaceAll(/(?<!:):(\w+)/g, (_match, name) => `$${Object.keys(bindings).indexOf(name) + 1}`)
  const client = new Client({ connectionString: platform.context.config.database.url })
  await client.connect()
  const { rows } = await client.query(sql, Object.values(bindings))
  await client.end()
  expect(rows[0]).toMatchObject({ large: '9007199254740993', at: bindings.at, nothing: null, twice: 'second' })
  for (let time = 0; time < 2; time++) expect(await query(db, ofEveryKind, bindings)).toEqual(rows)
})

test('a connection has the columns of a statement described once', async () => {
  const described = vi.spyOn(Connection.prototype, 'describe')
  const sql = `select number, 'row ' || number as text from generate_series(1, :most::integer) as number order by number`
  try {
    expect(await query(db, sql, { most: 1 })).toEqual([{ number: 1, text: 'row 1' }])
    expect(await query(db, sql, { most: 0 })).toEqual([])
    expect(await query(db, sql, { most: 2 })).toEqual([
      { number: 1, text: 'row 1' },
      { number: 2, text: 'row 2' },
    ])
    expect(described).toHaveBeenCalledOnce()
  } finally {
    described.mockRestore()
  }
})

test('a statement whose first execution fails works the next time, and its error leads to the caller', async () => {
  const sql = `select 1 / :divisor::integer as quotient`
  const error = await query(db, sql, { divisor: 0 }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: '22012', message: 'division by zero' })
  expect((error as Error).stack).toContain('prepared-statement.test.ts')
  expect(await query(db, sql, { divisor: 1 })).toEqual([{ quotient: 1 }])
  await expect(query(db, sql, { divisor: 0 })).rejects.toThrow('division by zero')
  expect(await query(db, sql, { divisor: 1 })).toEqual([{ quotient: 1 }])
})

test('a statement without rows returns none, and takes effect', async () => {
  const sql = `update workspaces set name = :name`
  for (const name of ['once', 'twice']) {
    expect(await query(db, sql, { name })).toEqual([])
    expect(await db('workspaces').distinct().pluck('name')).toEqual([name])
  }
})

test('a value that cannot be read fails its statement, and not the one after it', async () => {
  const { MACADDR } = types.builtins
  const parse = types.getTypeParser(MACADDR)
  types.setTypeParser(MACADDR, () => {
    throw new Error('No such address')
  })
  try {
    await expect(
      query(db, `select macaddr '08:00:2b:01:02:03' as address from generate_series(1, 2)`, {}),
    ).rejects.toThrow('No such address')
    expect(await query(db, `select 1 as one`, {})).toEqual([{ one: 1 }])
  } finally {
    types.setTypeParser(MACADDR, parse)
  }
})

test('a connection that was closed is not given to the next statement', async () => {
  const source = db.client as { acquireConnection(): Promise<Client>; releaseConnection(connection: Client): void }
  const connection = await source.acquireConnection()
  destroySocket(connection)
  source.releaseConnection(connection)
  expect(await query(db, 'select 1 as one', {})).toEqual([{ one: 1 }])
})

test('the server ends a statement that was abandoned', async () => {
  const [row] = await query<{ seconds: number }>(
    db,
    `select extract(epoch from current_setting('statement_timeout')::interval)::integer as seconds`,
    {},
  )
  expect(row!.seconds * 1000 - statementMilliseconds).toBe(1000)
})

test('a statement whose columns a migration has changed is executed again, and in a transaction the transaction', async () => {
  await db.raw('create table migrated (id integer)')
  const sql = 'select * from migrated'
  const inTransaction = () => transact(db, (transaction) => query(transaction, sql, {}))
  for (const [column, execute] of [
    ['first', () => query(db, sql, {})],
    ['second', inTransaction],
  ] as const) {
    await db('migrated').delete()
    expect(await execute()).toEqual([])
    await db.raw(`alter table migrated add ${column} text default '${column}'`)
    await db('migrated').insert({ id: 1 })
    expect(await execute()).toMatchObject([{ id: 1, [column]: column }])
  }
})

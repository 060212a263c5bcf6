import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase, type Database } from '#shared/store/database.ts'
import { deleteByFilter } from '#shared/tables/delete-by-filter.ts'
import { findGroups, findRows, type RowsRequest } from '#shared/tables/find-rows.ts'
import { similarityOf } from '#shared/tables/search.ts'
import { run, sql } from '#shared/store/sql.ts'
import { createDatabase, type TestDatabase } from '../../support/databases.ts'
import { insertTable, toNames, withFields } from '../../support/tables.ts'

let database: TestDatabase
let db: Database
beforeAll(async () => {
  database = await createDatabase()
  db = openDatabase({ url: database.url, poolSize: 4, allowSelfSigned: false })
})
afterAll(async () => {
  await db.destroy()
  await database.drop()
})

const columns = withFields({
  name: { type: 'string', 'x-zui': { searchable: true } },
  age: { type: 'number' },
  isAdmin: { type: 'boolean' },
  seen: { type: 'string', format: 'date-time' },
  customer: { type: 'object', properties: { price: { type: 'number' } }, 'x-zui': { searchable: true } },
  tags: { type: 'array', items: { type: 'string' } },
  free: {},
})
const rows = [
  {
    name: 'blue umbrella',
    age: 9,
    isAdmin: true,
    seen: '2026-01-02T00:00:00.000Z',
    customer: { price: 5, name: 'Ann' },
  },
  { name: 'Red umbrella', age: 10, isAdmin: false, seen: '2026-01-01T00:00:00.000Z', customer: { price: 7 }, free: 10 },
  { name: 'green hat', age: 9, tags: ['x', 'y'], customer: { price: 5 }, free: '9' },
  { name: null, age: null, isAdmin: true, free: 9 },
]

const idsOf = ({ rows: found }: { rows: { id: number }[] }) => found.map(({ id }) => id)
const page = { limit: 100, offset: 0 }

describe('rows', () => {
  let table: { id: string; columns: typeof columns }
  beforeAll(async () => {
    table = { id: await insertTable(db, columns, rows), columns }
    // Rows of another table never count.
    await insertTable(db, columns, rows)
  })
  const find = (request: Partial<RowsRequest>) => findRows(db, table, { ...page, ...request })

  test.each<[Partial<RowsRequest>, number[]]>([
    [{}, [1, 2, 3, 4]],
    [{ orderDirection: 'desc' }, [4, 3, 2, 1]],
    [{ orderBy: 'age' }, [1, 3, 2, 4]],
    [{ orderBy: 'age', orderDirection: 'desc' }, [2, 3, 1, 4]],
    [{ orderBy: 'name' }, [2, 1, 3, 4]],
    [{ orderBy: 'seen' }, [2, 1, 3, 4]],
    [{ orderBy: 'isAdmin' }, [2, 1, 4, 3]],
    [{ orderBy: 'customer.price', orderDirection: 'desc' }, [2, 3, 1, 4]],
    [{ orderBy: 'free' }, [4, 2, 3, 1]],
    [{ orderBy: 'createdAt' }, [1, 2, 3, 4]],
    [{ orderBy: 'row_id', orderDirection: 'desc' }, [4, 3, 2, 1]],
    [{ filter: { age: 9 }, orderBy: 'name', orderDirection: 'desc' }, [3, 1]],
  ])('%j come in this order: %j', async (request, ids) => {
    expect(idsOf(await find(request))).toEqual(ids)
  })

  test('pages follow each other, and the last one says so', async () => {
    expect(await find({ limit: 2 })).toMatchObject({ hasMore: true, rows: [{ id: 1 }, { id: 2 }] })
    expect(await find({ limit: 2, offset: 2 })).toMatchObject({ hasMore: false, rows: [{ id: 3 }, { id: 4 }] })
    expect(await find({ limit: 2, offset: 4 })).toMatchObject({ hasMore: false, rows: [] })
  })

  test('selected columns and paths are answered nested, a whole value with its parts', async () => {
    const [first, , third] = (await find({ select: ['name', 'customer.name', 'customer.price', 'tags.1', 'id'] })).rows
    expect(toNames(columns, first!.data)).toEqual({
      name: 'blue umbrella',
      customer: { name: 'Ann', price: 5 },
      tags: { 1: null },
    })
    expect(toNames(columns, third!.data)).toMatchObject({ tags: { 1: 'y' } })
    const [whole] = (await find({ select: ['customer.name', 'customer'], limit: 1 })).rows
    expect(toNames(columns, whole!.data)).toEqual({ customer: { price: 5, name: 'Ann' } })
    const [hostile] = (await find({ select: ['customer.__proto__.polluted'], limit: 1 })).rows
    expect(JSON.stringify(toNames(columns, hostile!.data))).toBe('{"customer":{"__proto__":{"polluted":null}}}')
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect((await find({ select: [], limit: 1 })).rows[0]!.data).toEqual({})
  })

  test('an unknown or unordered column is refused by name', async () => {
    await expect(find({ orderBy: 'agee' })).rejects.toMatchObject({
      type: 'InvalidQuery',
      message: expect.stringContaining("'agee'"),
    })
    await expect(find({ orderBy: 'tags' })).rejects.toMatchObject({
      type: 'InvalidQuery',
      message: expect.stringContaining("'tags' holds an array"),
    })
    await expect(find({ select: ['nmae'] })).rejects.toMatchObject({
      type: 'InvalidQuery',
      message: expect.stringContaining("'nmae'"),
    })
  })

  test('a pattern that PostgreSQL refuses is named, and one that burns other engines ends', async () => {
    for (const pattern of ['(', 'a{2,1}', '((a{255}){255}){255}']) {
      await expect(find({ filter: { name: { $regex: pattern } } })).rejects.toMatchObject({
        type: 'InvalidQuery',
        status: 400,
        message: expect.stringContaining('$regex'),
      })
    }
    const long = { id: await insertTable(db, columns, [{ name: `${'a'.repeat(3000)}!` }]), columns }
    for (const pattern of ['^(a+)+$', '^(a|a)*$', '(.*)*x$', '^(a*)*\\1$']) {
      const found = await findRows(db, long, { ...page, filter: { name: { $regex: pattern } } })
      expect(found.rows.length).toBeLessThanOrEqual(1)
    }
  })

  test('a query beyond the limit of time is refused by name, and its connection goes on', async () => {
    await db.transaction(async (other) => {
      await other.raw('lock table table_rows in access exclusive mode')
      await expect(find({})).rejects.toMatchObject({ type: 'LimitExceeded', message: expect.stringContaining('5 s') })
    })
    expect(idsOf(await find({}))).toEqual([1, 2, 3, 4])
  })

  test('an answer that would be too large is refused with the way to a smaller one', async () => {
    const wide = {
      id: await insertTable(
        db,
        columns,
        Array.from({ length: 150 }, () => ({ name: 'x'.repeat(120_000) })),
      ),
      columns,
    }
    await expect(findRows(db, wide, page)).resolves.toMatchObject({ hasMore: true })
    await expect(findRows(db, wide, { limit: 150, offset: 0 })).rejects.toMatchObject({
      type: 'LimitExceeded',
      message: expect.stringContaining("'limit'"),
    })
  })
})

describe('search', () => {
  test('ranks rows by nearness over the searchable columns, among those that pass the filter', async () => {
    const table = { id: await insertTable(db, columns, rows), columns }
    const found = await findRows(db, table, { ...page, search: 'red umbrela' })
    expect(idsOf(found).slice(0, 2)).toEqual([2, 1])
    const similarities = found.rows.map(({ similarity }) => similarity!)
    expect(similarities).toEqual(similarities.toSorted((a, b) => b - a))
    expect(Math.min(...similarities)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...similarities)).toBeLessThanOrEqual(1)
    expect(idsOf(await findRows(db, table, { ...page, search: 'ann', limit: 1 }))).toEqual([1])
    expect(idsOf(await findRows(db, table, { ...page, search: 'umbrella', filter: { age: 10 } }))).toEqual([2])
  })

  test('says so when no column is searchable', async () => {
    const plain = withFields({ name: { type: 'string' } })
    const table = { id: await insertTable(db, plain, [{ name: 'hat' }, {}]), columns: plain }
    const found = await findRows(db, table, { ...page, search: 'hat' })
    expect(found).toMatchObject({ rows: [{ id: 1 }, { id: 2 }] })
    expect(found.warnings).toEqual([expect.stringContaining('no column of the table is searchable')])
    expect(found.rows[0]).not.toHaveProperty('similarity')
  })

  test('without trigrams, rows with some of the words are nearer than rows with none', async () => {
    const id = await insertTable(db, columns, rows)
    const near = similarityOf([columns.name.field], "the green umbrella's <-> ! hat", false)
    const found = await run<{ id: number; near: number }>(
      db,
      sql`select r.id, ${near} as near from table_rows r where table_id = ${id} order by near desc, id`,
    )
    expect(idsOf({ rows: found })[0]).toBe(3)
    expect(found.map((row) => row.near > 0)).toEqual([true, true, true, false])
    expect(Math.max(...found.map((row) => row.near))).toBeLessThanOrEqual(1)
  })
})

async function group(asked: Record<string, unknown>, request: Partial<RowsRequest> = {}) {
  const table = { id: await insertTable(db, columns, rows), columns }
  return findGroups(db, table, { ...page, ...request, group: asked })
}

describe('groups', () => {
  test('by a key, with the aggregations of other columns, in the order of the keys', async () => {
    const { rows: found } = await group({
      age: 'key',
      'customer.price': ['sum', 'avg', 'max'],
      id: 'count',
      name: 'min',
    })
    expect(found).toEqual([
      {
        ageKey: 9,
        customerPriceSum: 10,
        customerPriceAvg: 5,
        customerPriceMax: 5,
        idCount: 2,
        nameMin: 'blue umbrella',
      },
      {
        ageKey: 10,
        customerPriceSum: 7,
        customerPriceAvg: 7,
        customerPriceMax: 7,
        idCount: 1,
        nameMin: 'Red umbrella',
      },
      {
        ageKey: null,
        customerPriceSum: null,
        customerPriceAvg: null,
        customerPriceMax: null,
        idCount: 1,
        nameMin: null,
      },
    ])
  })

  test('all rows are one group without a key; only values are counted', async () => {
    const { rows: found, hasMore } = await group({
      name: 'count',
      age: ['unique', 'sum'],
      seen: ['min', 'max'],
      isAdmin: ['unique', 'count'],
      tags: 'count',
      createdAt: 'max',
    })
    expect(found).toEqual([
      {
        nameCount: 3,
        ageUnique: 2,
        ageSum: 28,
        seenMin: '2026-01-01T00:00:00.000Z',
        seenMax: '2026-01-02T00:00:00.000Z',
        isAdminUnique: 2,
        isAdminCount: 3,
        tagsCount: 1,
        createdAtMax: expect.stringMatching(/^\d{4}-.*T.*\.\d{3}Z$/),
      },
    ])
    expect(hasMore).toBe(false)
  })

  test('by several keys of each type, with filter, limit and offset', async () => {
    expect((await group({ isAdmin: 'key', age: 'key' })).rows).toEqual([
      { isAdminKey: false, ageKey: 10 },
      { isAdminKey: true, ageKey: 9 },
      { isAdminKey: true, ageKey: null },
      { isAdminKey: null, ageKey: 9 },
    ])
    expect((await group({ tags: 'key', id: 'count' })).rows).toContainEqual({ tagsKey: ['x', 'y'], idCount: 1 })
    expect((await group({ seen: 'key' }, { filter: { age: { $exists: true } }, limit: 1, offset: 1 })).rows).toEqual([
      { seenKey: '2026-01-02T00:00:00.000Z' },
    ])
    expect(await group({ age: 'key' }, { limit: 1 })).toMatchObject({ rows: [{ ageKey: 9 }], hasMore: true })
    expect((await group({ age: 'key' }, { filter: { name: 'nobody' } })).rows).toEqual([])
  })

  test('a value that does not fit the column is refused by name; one without effect is reported', async () => {
    for (const [asked, message] of [
      [{ name: 'sum' }, /'name' holds a string, which takes key, count/],
      [{ isAdmin: 'max' }, /'isAdmin' holds a boolean/],
      [{ age: 'median' }, /takes key, count, .* not 'median'/],
      [{ agee: 'key' }, /no column 'agee'/],
      [{}, /names no column/],
      [{ age: { $sum: 1 } }, /not an object/],
    ] as const) {
      await expect(group(asked)).rejects.toMatchObject({
        type: 'InvalidQuery',
        message: expect.stringMatching(message),
      })
    }
    const { warnings } = await group({ age: 'key' }, { orderBy: 'age', search: 'x' })
    expect(warnings).toEqual([expect.stringContaining('`search`'), expect.stringContaining('`orderBy`')])
  })
})

describe('deleting by a filter', () => {
  test('deletes the rows that pass, in batches, and no others', async () => {
    const many = Array.from({ length: 2500 }, (_, age) => ({ age }))
    const table = { id: await insertTable(db, columns, many), columns }
    expect(await deleteByFilter(db, table, { age: { $gte: 100 } })).toBe(2400)
    expect((await findRows(db, table, { limit: 1000, offset: 0 })).rows).toHaveLength(100)
    await expect(deleteByFilter(db, table, { nobody: 1 })).rejects.toMatchObject({ type: 'InvalidQuery' })
  })

  test('in a transaction, all of them go or none', async () => {
    const table = {
      id: await insertTable(
        db,
        columns,
        Array.from({ length: 1500 }, (_, age) => ({ age })),
      ),
      columns,
    }
    const failing = db.transaction(async (transaction) => {
      expect(await deleteByFilter(transaction, table, { age: { $lt: 1200 } })).toBe(1200)
      throw new Error('on purpose')
    })
    await expect(failing).rejects.toThrow('on purpose')
    expect(await findRows(db, table, { limit: 1000, offset: 1000 })).toMatchObject({ rows: { length: 500 } })
  })
})

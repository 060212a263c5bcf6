import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiError } from '#shared/errors.ts'
import { openDatabase, type Database } from '#shared/store/database.ts'
import { run, sql } from '#shared/store/sql.ts'
import type { ColumnTypes } from '#shared/tables/column-reference.ts'
import { compileFilter } from '#shared/tables/filter.ts'
import { toData, withFields } from '../../support/tables.ts'
import { createDatabase, type TestDatabase } from '../../support/databases.ts'

let database: TestDatabase
let db: Database
beforeAll(async () => {
  database = await createDatabase()
  db = openDatabase({ url: database.url, poolSize: 2, allowSelfSigned: false })
})
afterAll(async () => {
  await db.destroy()
  await database.drop()
})

const columns = withFields({
  name: { type: 'string' },
  age: { type: 'number' },
  isAdmin: { type: 'boolean' },
  seen: { type: 'string', format: 'date-time' },
  tags: { type: 'array', items: { type: 'string' } },
  items: { type: 'array', items: { type: 'object', properties: { price: { type: 'number' } } } },
  customer: { type: 'object', properties: { name: { type: 'string' }, address: { type: 'object' } } },
  'first.name': { type: 'string' },
  'Full Name': { type: 'string' },
  __proto__x: { type: 'string' },
  free: {},
})

const rows = [
  { name: 'Ann', age: 9, isAdmin: true, seen: '2026-01-01T00:00:00.000Z', tags: ['red', 'blue'], free: 10 },
  { name: 'ann', age: 10, isAdmin: false, seen: '2026-01-02T00:00:00.000Z', tags: [], free: '9' },
  {
    name: 'Bob',
    age: null,
    items: [{ price: 5 }, { price: 7.5 }],
    customer: { name: 'Zoë', address: { city: 'Köln' } },
  },
  { name: 'a?b$1', 'first.name': 'dotted', 'Full Name': 'spaced', free: ['x', 3] },
  { name: null, customer: { address: {} }, free: { a: 1, b: 2 } },
]

/** The places, from 1, of the rows that pass. */
async function find(filter: unknown): Promise<number[]> {
  const from = sql`with r as (
    select ordinality::int as id, value as data,
           '2026-05-01T12:00:00Z'::timestamptz + ordinality * interval '1 day' as created_at, now() as updated_at
    from jsonb_array_elements(${JSON.stringify(toData(columns, rows))}::jsonb) with ordinality)`
  const found = await run<{ id: number }>(
    db,
    sql`${from} select id from r where ${compileFilter(columns, filter)} order by id`,
  )
  return found.map(({ id }) => id)
}

function refusal(filter: unknown): string {
  let refused: unknown
  try {
    compileFilter(columns, filter)
  } catch (error) {
    refused = error
  }
  expect(refused).toMatchObject({ type: 'InvalidQuery', status: 400 } satisfies Partial<ApiError>)
  return (refused as ApiError).message
}

/** An object with an own property `__proto__`, which a literal cannot have. */
function parse(text: string): object {
  return JSON.parse(text) as object
}

describe('each operator, by the type of the column', () => {
  test.each<[object, number[]]>([
    [{}, [1, 2, 3, 4, 5]],
    // texts
    [{ name: 'Ann' }, [1]],
    [{ name: { $eq: 'a?b$1' } }, [4]],
    [{ name: null }, [5]],
    [{ name: { $ne: 'Ann' } }, [2, 3, 4, 5]],
    [{ name: { $ne: null } }, [1, 2, 3, 4]],
    [{ name: { $gt: 'B' } }, [2, 3, 4]],
    [{ name: { $gte: 'Bob', $lt: 'a?' } }, [3]],
    [{ name: { $in: ['Ann', 'Bob', null] } }, [1, 3, 5]],
    [{ name: { $in: [] } }, []],
    [{ name: { $nin: ['Ann', null] } }, [2, 3, 4]],
    [{ name: { $regex: '^a' } }, [2, 4]],
    [{ name: { $regex: '^a', $options: 'i' } }, [1, 2, 4]],
    [{ name: { $regex: 'NN', $options: 'c' } }, []],
    [{ name: { $regex: '\\?' } }, [4]],
    // numbers: 9 comes before 10
    [{ age: 10 }, [2]],
    [{ age: { $lt: 10 } }, [1]],
    [{ age: { $gte: 9 } }, [1, 2]],
    [{ age: { $lte: 9.5 } }, [1]],
    [{ age: { $ne: 9 } }, [2, 3, 4, 5]],
    [{ age: { $mod: [5, 4] } }, [1]],
    [{ age: { $exists: true } }, [1, 2]],
    [{ age: { $exists: false } }, [3, 4, 5]],
    // booleans
    [{ isAdmin: false }, [2]],
    [{ isAdmin: { $gt: false } }, [1]],
    [{ isAdmin: { $in: [true, false] } }, [1, 2]],
    // times, in whatever form the caller writes them
    [{ seen: '2026-01-01T01:00:00+01:00' }, [1]],
    [{ seen: { $gt: '2026-01-01' } }, [2]],
    [{ seen: { $lte: '2026-01-02T00:00:00' } }, [1, 2]],
    [{ seen: { $regex: '^2026-01-02' } }, [2]],
    // arrays
    [{ tags: 'red' }, [1]],
    [{ tags: ['red', 'blue'] }, [1]],
    [{ tags: ['blue', 'red'] }, []],
    [{ tags: { $in: ['blue', 'green'] } }, [1]],
    [{ tags: { $nin: ['blue'] } }, [2, 3, 4, 5]],
    [{ tags: { $size: 0 } }, [2]],
    [{ items: { $size: 2 } }, [3]],
    [{ items: { price: 7.5 } }, [3]],
    [{ items: { price: 7 } }, []],
    [{ items: { $in: [{ price: 7.5 }] } }, [3]],
    [{ items: { $in: [[{ price: 5 }, { price: 7.5 }]] } }, [3]],
    // objects: equality, not containment
    [{ customer: { address: {} } }, [5]],
    [{ customer: { name: 'Zoë' } }, []],
    [{ customer: { address: { city: 'Köln' }, name: 'Zoë' } }, [3]],
    // paths
    [{ 'customer.name': 'Zoë' }, [3]],
    [{ 'customer.address.city': { $regex: 'köln', $options: 'i' } }, [3]],
    [{ 'customer.name': { $exists: false } }, [1, 2, 4, 5]],
    [{ 'items.0.price': 5 }, [3]],
    [{ 'items.1.price': { $gt: 7 } }, [3]],
    [{ 'items.1.price': { $in: [7.5, 8] } }, [3]],
    [{ 'first.name': 'dotted' }, [4]],
    [{ 'Full Name': 'spaced' }, [4]],
    [{ 'tags.1': 'blue' }, [1]],
    // no declared type: that of the value decides
    [{ free: { $gte: 10 } }, [1]],
    [{ free: { $gte: '10' } }, [2]],
    [{ free: 'x' }, [4]],
    [{ free: { $in: [3, 10] } }, [1, 4]],
    [{ free: { a: 1 } }, []],
    [{ free: { b: 2, a: 1 } }, [5]],
    [{ 'free.a': 1 }, [5]],
    // system columns
    [{ id: 3 }, [3]],
    [{ id: { $in: [1, 5, 77] } }, [1, 5]],
    [{ row_id: { $gt: 3 } }, [4, 5]],
    [{ id: { $lt: 9_007_199_254_740_991 } }, [1, 2, 3, 4, 5]],
    [{ id: { $mod: [2, 0] } }, [2, 4]],
    [{ createdAt: { $lt: '2026-05-03T12:00:00.001Z' } }, [1, 2]],
    [{ createdAt: '2026-05-03T14:00:00+02:00' }, [2]],
    [{ updatedAt: { $exists: true } }, [1, 2, 3, 4, 5]],
    // combinations
    [{ name: 'Ann', age: 9 }, [1]],
    [{ name: 'Ann', age: 10 }, []],
    [{ $or: [{ name: 'Ann' }, { age: 10 }] }, [1, 2]],
    [{ $and: [{ age: { $gte: 9 } }, { $not: { name: 'Ann' } }] }, [2]],
    [{ $not: { $or: [{ age: { $gt: 0 } }, { name: null }] } }, [3, 4]],
    [{ age: { $not: { $gt: 9 } } }, [1, 3, 4, 5]],
    [{ name: { $not: { $regex: 'n' } } }, [3, 4, 5]],
  ])('%j', async (filter, expected) => {
    expect(await find(filter)).toEqual(expected)
  })
})

describe('a filter is refused with the name of its fault', () => {
  test.each<[unknown, RegExp]>([
    [{ nmae: 1 }, /no column 'nmae'.*'name', 'age'/],
    [{ 'nobody.name': 1 }, /no column 'nobody\.name'/],
    [{ age: { gte: 5 } }, /'gte' lacks its '\$': write '\$gte'/],
    [{ age: { $near: 5 } }, /no operator '\$near'.*\$gte/],
    [{ age: { $gt: 1, lt: 5 } }, /'lt' lacks its '\$'/],
    [{ $nor: [{}] }, /no operator '\$nor'.*\$and/],
    [{ age: {} }, /needs an operator/],
    [{ age: 'nine' }, /'\$eq' of 'age' takes a number, not 'nine'/],
    [{ age: { $gt: null } }, /'\$gt' of 'age' takes/],
    [{ name: { $in: 'Ann' } }, /'\$in' of 'name' takes an array/],
    [{ name: { $in: ['Ann', 5] } }, /takes a text, not 5/],
    [{ seen: 'yesterday' }, /takes a time, as 2026-/],
    [{ tags: { $gt: 'a' } }, /'tags' holds an array, which has no order/],
    [{ name: { $size: 1 } }, /'\$size' needs an array/],
    [{ tags: { $size: -1 } }, /whole number/],
    [{ name: { $mod: [2, 0] } }, /'\$mod' needs a number/],
    [{ age: { $mod: [0, 0] } }, /the divisor is not 0/],
    [{ age: { $regex: '1' } }, /'\$regex' needs a text/],
    [{ name: { $regex: 5 } }, /a pattern as text/],
    [{ name: { $options: 'i' } }, /belongs beside a '\$regex'/],
    [{ name: { $regex: 'a', $options: 'gi' } }, /'\$options' must be/],
    [{ name: { $exists: 'yes' } }, /'\$exists' of 'name' takes true or false/],
    [{ name: { $not: 'Ann' } }, /'\$not' of 'name' takes operators/],
    [{ 'name.first': 'x' }, /leads into 'name', which holds a string/],
    [{ 'items.price': 5 }, /name one of its elements, as 'items\.0'/],
    [{ id: 1.5 }, /whole number/],
    [{ id: '1' }, /whole number/],
    [{ $or: [] }, /at least one filter/],
    [{ $and: { name: 'Ann' } }, /takes an array/],
    [[], /must be an object/],
    [null, /must be an object/],
  ])('%j', (filter, message) => {
    expect(refusal(filter)).toMatch(message)
  })
})

describe('bounds', () => {
  const nested = (depth: number): object => (depth === 0 ? { name: 'Ann' } : { $and: [nested(depth - 1)] })
  let deep: object = { name: 'Ann' }
  for (let depth = 0; depth < 100_000; depth++) deep = { $not: deep }

  test('a filter of ten levels passes, one of eleven and one of 100,000 are refused', async () => {
    expect(await find(nested(9))).toEqual([1])
    expect(refusal(nested(10))).toMatch(/more than 10 deep/)
    expect(refusal(deep)).toMatch(/more than 10 deep/)
    let operators: object = { $gt: 1 }
    for (let depth = 0; depth < 1000; depth++) operators = { $not: operators }
    expect(refusal({ age: operators })).toMatch(/more than 10 deep/)
  })

  test('a hundred conditions, and a thousand values in a list', async () => {
    expect(await find({ $or: Array.from({ length: 100 }, () => ({ name: 'Ann' })) })).toEqual([1])
    expect(refusal({ $or: Array.from({ length: 101 }, () => ({ name: 'Ann' })) })).toMatch(/more than 100 conditions/)
    expect(await find({ age: { $in: Array.from({ length: 1000 }, (_, index) => index) } })).toEqual([1, 2])
    expect(refusal({ age: { $in: Array.from({ length: 1001 }, (_, index) => index) } })).toMatch(/at most 1000/)
    expect(refusal({ name: 'x'.repeat(300_000) })).toMatch(/256 KB/)
  })

  test('a pattern of 1,024 characters', async () => {
    expect(await find({ name: { $regex: 'x'.repeat(1024) } })).toEqual([])
    expect(refusal({ name: { $regex: 'x'.repeat(1025) } })).toMatch(/at most 1024/)
  })
})

describe('names and values of strangers', () => {
  test('`__proto__` is a column like others, where the table has it, and otherwise unknown', async () => {
    expect(refusal(parse('{"__proto__": "x"}'))).toMatch(/no column '__proto__'/)
    expect(refusal({ constructor: 'x' })).toMatch(/no column 'constructor'/)
    expect(refusal({ 'customer.toString.x': 'x', toString: 1 })).toMatch(/no column 'toString'/)
    expect(await find(parse('{"customer.__proto__": "x"}'))).toEqual([])
    const own = parse('{"__proto__": {"type": "string", "field": "__proto__"}}') as ColumnTypes
    const { bindings } = compileFilter(own, parse('{"__proto__": "x"}'))
    expect(bindings).toEqual([['{"__proto__":"x"}']])
    expect(({} as { x?: unknown }).x).toBeUndefined()
  })

  test('no name and no value becomes part of the statement', () => {
    const evil = `'); drop table x; -- ? :a $1`
    const own: ColumnTypes = { [evil]: { type: 'string', field: evil }, o: { type: 'object', field: 'o' } }
    const filter = { [evil]: { $in: [evil], $regex: evil, $gt: evil }, [`o.${evil}`]: { $ne: evil } }
    const { text, bindings } = compileFilter(own, filter)
    expect(text).not.toContain('drop')
    expect(text.match(/\?/g)).toHaveLength(bindings.length)
  })

  test('such a value only compares', async () => {
    expect(await find({ name: `'); drop table x; -- ? :a $1` })).toEqual([])
    expect(await find({ name: { $in: ['{"a"}', '\\', '"', 'a?b$1'] } })).toEqual([4])
    expect(await find({ [`customer.{a,"b}`]: { $in: ['{"a"}', '\\'] } })).toEqual([])
  })
})

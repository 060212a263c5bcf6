import { default as sift } from 'sift'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase, type Database } from '#shared/store/database.ts'
import { run, sql } from '#shared/store/sql.ts'
import { compileFilter } from '#shared/tables/filter.ts'
import { chancesFrom, type Chances } from '../../chaos/random.ts'
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
  text: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  time: { type: 'string', format: 'date-time' },
  texts: { type: 'array', items: { type: 'string' } },
  numbers: { type: 'array', items: { type: 'number' } },
  object: { type: 'object' },
  free: {},
})

const texts = ['', 'a', 'A', 'ab', 'b', 'Z', 'a b', '10', '9', 'é']
const numbers = [0, 1, -1, 9, 10, 2.5, 1e21, -0.1]
const times = ['2025-12-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z']
const objects = [{}, { a: 1 }, { a: 1, b: 'x' }, { b: 'x', a: 1 }, { a: { c: true } }, { a: '1' }]
const patterns = ['a', '^a', 'b$', '^[a-z]+$', 'a.b', '(9|10)', '^$', '[0-9]{2}']

const scalars: Record<string, readonly unknown[]> = {
  text: texts,
  number: numbers,
  boolean: [true, false],
  time: times,
  free: [...texts, ...numbers, true, false],
  'object.a': [1, '1', 2, true],
  'object.a.c': [true, false],
  'texts.0': texts,
}

function listOf(chances: Chances, values: readonly unknown[], max: number): unknown[] {
  return chances.shuffle(values).slice(0, Math.floor(chances.between(0, max + 1)))
}

/** Rows without values are those in which the column is absent: for sift, a null exists. */
function randomRow(chances: Chances): Record<string, unknown> {
  const all: Record<string, unknown> = {
    text: chances.pick(texts),
    number: chances.pick(numbers),
    boolean: chances.pick([true, false]),
    time: chances.pick(times),
    texts: listOf(chances, texts, 3),
    numbers: listOf(chances, numbers, 3),
    object: chances.pick(objects),
    free: chances.pick(scalars['free']!),
  }
  return Object.fromEntries(Object.entries(all).filter(() => chances.between(0, 1) < 0.8))
}

function randomCondition(chances: Chances): object {
  const { between, pick } = chances
  const ofScalar = () => {
    const name = pick(Object.keys(scalars))
    const values = scalars[name]!
    const value = pick(values)
    // For sift, an element beyond the end of an array is not null.
    if (name === 'texts.0') return { [name]: { [pick(['$eq', '$gt', '$lte'])]: value } }
    return pick<() => object>([
      () => ({ [name]: value }),
      () => ({ [name]: null }),
      () => ({ [name]: { $eq: value } }),
      () => ({ [name]: { $ne: value } }),
      () => ({ [name]: { [pick(['$gt', '$gte', '$lt', '$lte'])]: value } }),
      () => ({ [name]: { $gte: value, $lt: pick(values) } }),
      () => ({ [name]: { [pick(['$in', '$nin'])]: listOf(chances, [...values, null], 4) } }),
      () => ({ [name]: { $exists: pick([true, false]) } }),
      () => ({ [name]: { $not: { [pick(['$gt', '$eq', '$ne'])]: value } } }),
    ])()
  }
  const ofArray = () => {
    const name = pick(['texts', 'numbers'])
    const values: readonly unknown[] = name === 'texts' ? texts : numbers
    return pick<() => object>([
      () => ({ [name]: pick(values) }),
      () => ({ [name]: listOf(chances, values, 2) }),
      () => ({ [name]: { $ne: pick(values) } }),
      () => ({ [name]: { [pick(['$in', '$nin'])]: listOf(chances, [...values, null], 4) } }),
      () => ({ [name]: { $size: Math.floor(between(0, 4)) } }),
      () => ({ [name]: { $exists: pick([true, false]) } }),
    ])()
  }
  const others = () =>
    pick<() => object>([
      () => ({ [pick(['text', 'time'])]: { $regex: pick(patterns) } }),
      () => ({ text: { $regex: pick(patterns), $options: 'i' } }),
      () => ({ number: { $mod: [pick([2, 3, 5]), pick([0, 1, 2])] } }),
      () => ({ object: pick(objects) }),
      () => ({ object: { $ne: pick(objects) } }),
      () => ({ object: { $in: [pick(objects), pick(objects)] } }),
    ])()
  return pick([ofScalar, ofScalar, ofArray, others])()
}

function randomFilter(chances: Chances, depth = 0): object {
  if (depth === 3 || chances.between(0, 1) < 0.5) return randomCondition(chances)
  const inner = () => randomFilter(chances, depth + 1)
  return chances.pick<() => object>([
    () => ({ $and: [inner(), inner()] }),
    () => ({ $or: [inner(), inner()] }),
    () => ({ $not: inner() }),
    () => ({ ...randomCondition(chances), ...randomCondition(chances) }),
  ])()
}

test('random filters find the rows that MongoDB’s semantics in JavaScript find', async () => {
  const chances = chancesFrom(20_261_122)
  const rows = Array.from({ length: 200 }, () => randomRow(chances))
  const from = sql`with r as (
    select ordinality::int - 1 as id, value as data from jsonb_array_elements(${JSON.stringify(toData(columns, rows))}::jsonb)
    with ordinality)`
  let found = 0
  for (let count = 0; count < 1500; count++) {
    const filter = randomFilter(chances)
    const passes = sift.default(filter)
    const expected = rows.flatMap((row, id) => (passes(row) ? [id] : []))
    const actual = await run<{ id: number }>(
      db,
      sql`${from} select id from r where ${compileFilter(columns, filter)} order by id`,
    )
    const ids = actual.map(({ id }) => id)
    expect({ filter, ids }).toEqual({ filter, ids: expected })
    if (ids.length > 0 && ids.length < rows.length) found += 1
  }
  // Most filters tell rows apart.
  expect(found).toBeGreaterThan(900)
})

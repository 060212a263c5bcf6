import { afterAll, beforeAll, expect, test } from 'vitest'
import { inStoredOrder } from '#shared/rpc/stored-order.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
})
afterAll(() => platform[Symbol.asyncDispose]())

test.each([
  { number: 1, status: 'shipped', readAt: 2 },
  [{ bb: 1, a: 2 }, { a: [{ z: 1, y: { longer: 1, é: 2, zz: 3 } }] }],
  { ä: 1, zz: 2, z: 3, aaa: 4, Z: 5, '': 6, '10': 7, '9': 8 },
  { text: 'äöü', nothing: null, list: [], empty: {}, number: 1.5 },
])('the fields of %j have the order that PostgreSQL gives them', async (value) => {
  const { rows } = await platform.context.db.raw<{ rows: { value: unknown }[] }>('select ?::jsonb as value', [
    JSON.stringify(value),
  ])
  expect(JSON.stringify(inStoredOrder(value))).toBe(JSON.stringify(rows[0]!.value))
})

test('a value that is no plain object stays as it is', () => {
  const date = new Date(0)
  expect(inStoredOrder({ date }).date).toBe(date)
  expect(inStoredOrder(undefined)).toBeUndefined()
})

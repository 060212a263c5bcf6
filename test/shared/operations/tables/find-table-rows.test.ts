import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlatform, type Platform } from '../../../support/platform.ts'
import { clientNames, openClients, type BotWithClients } from '../runtime/clients.ts'

let platform: Platform
let bot: BotWithClients
let foreign: BotWithClients
beforeAll(async () => {
  platform = await openPlatform()
  bot = await openClients(platform)
  foreign = await openClients(platform)
})
afterAll(() => platform[Symbol.asyncDispose]())

const properties = {
  name: { type: 'string', 'x-zui': { searchable: true } },
  age: { type: 'number' },
  seen: { type: 'string', format: 'date-time' },
  attributes: { type: 'object', properties: { price: { type: 'number' } } },
}
const given = [
  { name: 'Ann', age: 9, seen: '2026-01-01T00:00:00+02:00', attributes: { price: 5, colour: 'red' } },
  { name: 'Bob', age: 10, attributes: { price: 6 } },
  { name: 'Cid', age: 10 },
]

/** Nested beyond what any entry point passes on, and beyond what a filter may be. */
function nested(depth: number): object {
  let filter: object = { age: 1 }
  for (let level = 0; level < depth; level++) filter = { $not: filter }
  return filter
}

describe.each(clientNames)('%s', (name) => {
  const table = name === 'the published client' ? 'httpTable' : 'codeTable'
  const call = (operation: string, input: object = {}) => bot.clients[name](operation, { table, ...input })
  const find = (input: object = {}) => call('findTableRows', input)
  beforeAll(async () => {
    await call('createTable', { name: table, schema: { type: 'object', properties } })
    await call('createTableRows', { rows: given })
  })

  test('finds rows by filters, in an order, page by page', async () => {
    expect(await find()).toEqual({
      rows: given.map((row, index) => ({
        seen: null,
        attributes: null,
        ...row,
        id: index + 1,
        computed: {},
        ...(row.seen !== undefined && { seen: '2025-12-31T22:00:00.000Z' }),
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      })),
      hasMore: false,
      limit: 100,
      offset: 0,
    })
    const idsOf = async (input: object) => (await find(input)).rows.map(({ id }: { id: number }) => id)
    expect(await idsOf({ filter: { age: { $gt: 9 } }, orderBy: 'name', orderDirection: 'desc' })).toEqual([3, 2])
    expect(await idsOf({ filter: { seen: { $lt: '2026-01-01' } } })).toEqual([1])
    expect(
      await idsOf({ filter: { $or: [{ name: { $regex: '^b', $options: 'i' } }, { 'attributes.price': 5 }] } }),
    ).toEqual([1, 2])
    expect(await find({ limit: 2 })).toMatchObject({ hasMore: true, rows: [{ id: 1 }, { id: 2 }] })
    expect(await find({ limit: 2, offset: 2 })).toMatchObject({ hasMore: false, offset: 2, rows: [{ id: 3 }] })
    await call('renameTableColumn', { name: 'age', newName: 'years' })
    expect(await idsOf({ filter: { years: 9 } })).toEqual([1])
    await call('renameTableColumn', { name: 'years', newName: 'age' })
  })

  test('answers the selected columns, and those of every row', async () => {
    const { rows } = await find({ select: ['name', 'attributes.price'], limit: 1 })
    expect(rows).toEqual([
      {
        id: 1,
        name: 'Ann',
        attributes: { price: 5 },
        computed: {},
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      },
    ])
  })

  test('groups and searches', async () => {
    const { rows } = await find({ group: { age: 'key', 'attributes.price': ['sum', 'max'], id: 'count' } })
    expect(rows).toEqual([
      { ageKey: 9, attributesPriceSum: 5, attributesPriceMax: 5, idCount: 1 },
      { ageKey: 10, attributesPriceSum: 6, attributesPriceMax: 6, idCount: 2 },
    ])
    const searched = await find({ search: 'bobb' })
    expect(searched.rows[0]).toMatchObject({ name: 'Bob', similarity: expect.any(Number) })
    expect(searched.rows).toHaveLength(3)
  })

  test('deletes rows by a filter', async () => {
    await call('createTableRows', { rows: Array.from({ length: 20 }, () => ({ name: 'gone' })) })
    expect(await call('deleteTableRows', { filter: { name: 'gone' } })).toMatchObject({ deletedRows: 20 })
    expect((await find()).rows).toHaveLength(3)
    await expect(call('deleteTableRows', { filter: { nmae: 'gone' } })).rejects.toMatchObject({ type: 'InvalidQuery' })
    await expect(call('deleteTableRows', { filter: {}, ids: [1] })).rejects.toMatchObject({ type: 'InvalidPayload' })
  })

  test('a fault of a request is named, however deep it is nested', async () => {
    for (const [input, type, message] of [
      [{ filter: { agee: 1 } }, 'InvalidQuery', "'agee'"],
      [{ filter: { age: { gte: 1 } } }, 'InvalidQuery', "'$gte'"],
      [{ filter: { name: { $regex: '(' } } }, 'InvalidQuery', '$regex'],
      [{ filter: { name: 'a\0b' } }, 'InvalidPayload', 'U+0000'],
      [{ orderBy: 'agee' }, 'InvalidQuery', "'agee'"],
      [{ group: { age: 'median' } }, 'InvalidQuery', 'median'],
      [{ limit: 1001 }, 'InvalidPayload', 'limit'],
      [{ filter: nested(300) }, 'InvalidQuery', 'more than 10 deep'],
      [{ filter: nested(1000) }, 'Invalid', ''],
    ] as const) {
      await expect(find(input)).rejects.toMatchObject({
        code: 400,
        type: expect.stringMatching(`^${type}`),
        message: expect.stringContaining(message),
      })
    }
  })

  test('the table of another bot is not found', async () => {
    const { table: found } = await call('getTable')
    for (const other of [found.id, table]) {
      await expect(foreign.clients[name]('findTableRows', { table: other })).rejects.toMatchObject({
        code: 404,
        type: 'ResourceNotFound',
        message: expect.stringContaining('not found'),
      })
    }
  })
})

function findOverHttp(body: string) {
  return platform.ask('POST', '/v1/tables/httpTable/rows/find', body, { 'x-bot-id': bot.botId })
}

test('`__proto__` in a request finds nothing and changes nothing', async () => {
  expect(await findOverHttp('{"filter":{"__proto__":{"$ne":1}}}')).toMatchObject({
    status: 400,
    body: { type: 'InvalidQuery' },
  })
  expect(await findOverHttp('{"filter":{"attributes.__proto__.x":1}}')).toMatchObject({
    status: 200,
    body: { rows: [] },
  })
  expect(await findOverHttp('{"group":{"__proto__":"key"}}')).toMatchObject({
    status: 400,
    body: { type: 'InvalidQuery' },
  })
  expect((await findOverHttp('{"select":["attributes.__proto__.x"],"limit":1}')).status).toBe(200)
  expect(({} as { x?: unknown }).x).toBeUndefined()
})

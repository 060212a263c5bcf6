import { Client } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'
import { clientNames, openClients, type BotWithClients, type Call } from '../runtime/clients.ts'

let platform: Platform
let own: BotWithClients
beforeAll(async () => {
  platform = await openPlatform()
  own = await openClients(platform)
})
afterAll(() => platform[Symbol.asyncDispose]())

const columns = {
  email: { type: 'string', pattern: '^[^@]+@[^@]+$' },
  age: { type: 'number' },
  plan: { type: 'string', enum: ['free', 'paid'], nullable: false },
  seen: { type: 'string', format: 'date-time' },
  notes: { type: 'object', properties: { stars: { type: 'number' } } },
  labels: { type: 'array', items: { type: 'string' } },
  active: { type: 'boolean' },
}

describe.each(clientNames)('through %s', (clientName) => {
  const call: Call = (...given) => own.clients[clientName](...given)
  async function create(given: object = {}): Promise<string> {
    const schema = { type: 'object', properties: columns }
    return (await call('createTable', { name: `rows${newId('check').slice(-10)}Table`, schema, ...given })).table.id
  }

  test('rows are stored with their types, and read back with null in the other columns', async () => {
    const table = await create()
    const row = { email: 'a@b', age: 1.5, plan: 'free', notes: { stars: 3 }, labels: ['x'], active: false }
    const created = await call('createTableRows', {
      table,
      rows: [{ ...row, seen: '2026-11-22T12:00:00+02:00' }, {}],
      waitComputed: true,
    })
    const system = { computed: {}, createdAt: expect.any(String), updatedAt: expect.any(String) }
    const empty = Object.fromEntries(Object.keys(columns).map((name) => [name, null]))
    expect(created).toEqual({
      rows: [
        { ...row, ...system, id: 1, seen: '2026-11-22T10:00:00.000Z' },
        { ...empty, ...system, id: 2 },
      ],
    })
    for (const [index, stored] of created.rows.entries()) {
      expect((await call('getTableRow', { table, id: index + 1 })).row).toEqual(stored)
    }
    await expect(call('getTableRow', { table, id: 3 })).rejects.toMatchObject({ code: 404, type: 'ResourceNotFound' })
  })

  test('rows that fail are named with their column, and the others are stored', async () => {
    const table = await create()
    const rows = [
      { email: 'none' },
      { age: '7' },
      { plan: 'gold' },
      { plan: null },
      { seen: 'yesterday' },
      { notes: { stars: 'many' } },
      { notes: [] },
      { labels: [1] },
      { active: 'yes' },
      { email: `${'x'.repeat(5000)}@b` },
      { email: 'a@b', surprise: 1, id: 9, createdAt: 'x' },
    ]
    const { rows: stored, errors, warnings } = await call('createTableRows', { table, rows })
    expect(stored).toMatchObject([{ email: 'a@b', id: 1 }])
    expect(warnings).toEqual(["The table has no column 'surprise': its values are ignored"])
    expect(errors.map((text: string) => text.slice(0, 18))).toEqual([
      'rows.0.email must ',
      'rows.1.age must be',
      'rows.2.plan must b',
      'rows.3.plan must n',
      'rows.4.seen must b',
      'rows.5.notes.stars',
      'rows.6.notes must ',
      'rows.7.labels.0 mu',
      'rows.8.active must',
      'rows.9 has 5011 by',
    ])
  })

  test('updateTableRows changes the given columns only, and names rows that are not found', async () => {
    const table = await create()
    await call('createTableRows', { table, rows: [{ email: 'a@b', age: 1 }, { email: 'c@d' }] })
    const report = await call('updateTableRows', {
      table,
      rows: [
        { id: 1, age: 2 },
        { id: 7, age: 3 },
        { id: 1, plan: 'paid' },
        { id: 2, email: null },
      ],
    })
    expect(report.errors).toEqual(['rows.1: row 7 not found'])
    expect(report.rows).toMatchObject([
      { id: 1, age: 2 },
      { id: 1, age: 2, plan: 'paid' },
      { id: 2, email: null },
    ])
    expect((await call('getTableRow', { table, id: 1 })).row).toMatchObject({ email: 'a@b', age: 2, plan: 'paid' })
  })

  test('upsertTableRows matches by id, inserts unknown ids under them, and goes on after the highest', async () => {
    const table = await create()
    const first = await call('upsertTableRows', {
      table,
      rows: [{ id: 10, age: 1 }, { age: 2 }, { id: 10, age: 3 }, { id: 0 }, { id: 'x' }],
    })
    expect(first.inserted).toMatchObject([
      { id: 10, age: 1 },
      { id: 11, age: 2 },
    ])
    expect(first.updated).toMatchObject([{ id: 10, age: 3 }])
    expect(first.errors).toHaveLength(2)
    expect((await call('createTableRows', { table, rows: [{}] })).rows).toMatchObject([{ id: 12 }])
  })

  test.each([1, 150])('a row fails that carries the new id of another one, %i rows before it', async (count) => {
    const table = await create()
    const between = Array.from({ length: count - 1 }, (_, index) => ({ id: 1000 + index, age: 3 }))
    const rows = [{ age: 1 }, ...between, { id: 1, age: 2 }]
    const { inserted, updated, errors } = await call('upsertTableRows', { table, rows })
    expect({ inserted: inserted.length, updated }).toEqual({ inserted: count, updated: [] })
    expect(errors).toEqual([`rows.${count}: 1 is the new id of rows.0: put rows with ids before those without`])
    expect((await call('getTableRow', { table, id: 1 })).row).toMatchObject({ age: 1 })
  })

  test.each([
    ['the key column', { keyColumn: 'email' }],
    ['another column', {}],
  ])('upsertTableRows matches by %s', async (_title, given) => {
    const table = await create(given)
    const long = `${'x'.repeat(300)}@b`
    const first = await call('upsertTableRows', {
      table,
      keyColumn: 'email',
      rows: [{ email: 'a@b', age: 1 }, { email: long }, { email: 'a@b', plan: 'paid' }, { age: 5 }],
    })
    expect(first.inserted).toMatchObject([{ id: 1, email: 'a@b', age: 1 }, { id: 2 }])
    expect(first.updated).toMatchObject([{ id: 1, age: 1, plan: 'paid' }])
    expect(first.errors).toEqual(['rows.3.email has no value, by which its row is found'])
    const second = await call('upsertTableRows', { table, keyColumn: 'email', rows: [{ email: long, age: 9 }] })
    expect(second).toMatchObject({ inserted: [], updated: [{ id: 2, age: 9 }] })
  })

  test('an upsert of one time in two spellings makes one row', async () => {
    const table = await create()
    const rows = [
      { seen: '2026-11-22T10:00:00Z', age: 1 },
      { seen: '2026-11-22T12:00:00+02:00', age: 2 },
    ]
    const report = await call('upsertTableRows', { table, keyColumn: 'seen', rows })
    expect(report).toMatchObject({ inserted: [{ id: 1 }], updated: [{ id: 1, age: 2 }] })
    expect((await call('findTableRows', { table })).rows).toHaveLength(1)
  })

  test('an upsert by a value that several rows have fails for that row', async () => {
    const table = await create()
    await call('createTableRows', { table, rows: [{ age: 1e21 }, { age: 1e21 }, { age: 2 }] })
    const report = await call('upsertTableRows', {
      table,
      keyColumn: 'age',
      rows: [
        { age: 1e21, plan: 'paid' },
        { age: 2, plan: 'paid' },
      ],
    })
    expect(report).toMatchObject({ inserted: [], updated: [{ id: 3 }] })
    expect(report.errors).toEqual(['rows.0.age is the value of several rows: change them by id'])
  })

  test('a change to the key of another row fails, and leaves that row', async () => {
    const table = await create({ keyColumn: 'age' })
    await call('createTableRows', { table, rows: [{ age: 1 }, { age: 2 }, { age: 3 }] })
    const report = await call('updateTableRows', {
      table,
      rows: [
        { id: 1, age: 2 },
        { id: 2, age: 9 },
        { id: 3, age: 9 },
      ],
    })
    expect(report.rows).toMatchObject([{ id: 2, age: 9 }])
    expect(report.errors).toEqual(['rows.0.age has the key of another row', 'rows.2.age has the key of another row'])
  })

  test('deleteTableRows deletes rows by id or all, and counts them', async () => {
    const table = await create()
    await call('createTableRows', { table, rows: Array.from({ length: 6 }, () => ({})) })
    expect(await call('deleteTableRows', { table, ids: [1, 2, 99] })).toMatchObject({ deletedRows: 2 })
    expect(await call('deleteTableRows', { table, deleteAllRows: true })).toMatchObject({ deletedRows: 4 })
    expect((await call('getTable', { table })).rows).toBe(0)
    expect((await call('createTableRows', { table, rows: [{}] })).rows).toMatchObject([{ id: 7 }])
  })
})

test('a required column is needed by new rows, and cannot be emptied', async () => {
  const call = own.clients['the published client']
  const schema = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['a'] }
  const { table } = await call('createTable', { name: 'requiredTable', schema })
  const { errors } = await call('createTableRows', { table: table.id, rows: [{ b: 1 }, { a: 'x' }] })
  expect(errors).toEqual(['rows.0.a must have a value: the column is required'])
  expect((await call('updateTableRows', { table: table.id, rows: [{ id: 1, a: null }] })).errors).toHaveLength(1)
})

test.each([
  ['the key column', 'k'],
  ['a column without an index', null],
])('20 clients that upsert one value of %s make one row', async (_title, keyColumn) => {
  const call = own.clients['the published client']
  const { table } = await call('createTable', {
    name: `race${newId('check').slice(-10)}Table`,
    schema: { k: 'x', n: 1 },
    keyColumn,
  })
  const reports = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      call('upsertTableRows', { table: table.id, keyColumn: 'k', rows: [{ k: 'same', n }] }),
    ),
  )
  expect(reports.flatMap(({ inserted }) => inserted)).toHaveLength(1)
  expect(reports.flatMap(({ updated }) => updated)).toHaveLength(19)
  expect((await call('getTable', { table: table.id })).rows).toBe(1)
})

test.each(clientNames)(
  'what cannot be stored fails with its row, and the others are stored, through %s',
  async (name) => {
    // An input of an action is stored, so that it cannot hold these characters itself.
    const code = `export const actions = { write: ({ input, client }) => client.createTableRows(JSON.parse(input.given)) }
      export const hooks = {}`
    const { id: botId } = await platform.createBot(code)
    const client = new Client({ apiUrl: platform.url, token: platform.token, botId })
    const schema = { a: 'x', o: { type: 'object', properties: { deep: {} }, additionalProperties: false } }
    const { table } = await client.createTable({ name: 'textTable', schema })
    const rows = [
      { a: 'x\u0000' },
      { o: { deep: ['\ud800'] } },
      { a: '\\u0000 \u{1f600}' },
      // Reports name these, and those of code are stored.
      { o: { 'k\u0000': 1 } },
      { a: 'y', 'column\u0000': 1, 'other\ud800': 2 },
    ]
    const given = { table: table.id, rows }
    const written =
      name === 'the published client'
        ? await client.createTableRows(given)
        : (await client.callAction({ type: 'write', input: { given: JSON.stringify(given) } })).output
    expect(written['rows']).toMatchObject([{ a: '\\u0000 \u{1f600}' }, { a: 'y' }])
    const errors = [/^rows\.0 /, /^rows\.1 /, /^rows\.3\.o /].map((each) => expect.stringMatching(each))
    expect(written['errors']).toMatchObject(errors)
    expect(written['warnings']).toHaveLength(2)
  },
)

test('a number beyond double precision is refused, not stored as null', async () => {
  const call = own.clients['the published client']
  const { table } = await call('createTable', {
    name: `huge${newId('check').slice(-10)}Table`,
    schema: { n: 1, o: {} },
  })
  const response = await fetch(`${platform.url}/v1/tables/${table.id}/rows`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.token}`, 'x-bot-id': own.botId, 'content-type': 'application/json' },
    body: '{"rows":[{"n":1e999},{"o":{"deep":[-1e999]}},{"n":1,"__proto__":{"n":2}}]}',
  })
  expect(await response.json()).toMatchObject({ rows: [{ n: 1 }], errors: [expect.any(String), expect.any(String)] })
})

const overQuota = (setting: string) => ({
  code: 403,
  type: 'QuotaExceeded',
  message: expect.stringContaining(setting),
})

test('quotas of tables and of rows, each counted by its factor, name their setting', async () => {
  const { clients } = await openClients(platform)
  const call = clients['the published client']
  const { tables } = platform.context.config
  const before = { ...tables }
  Object.assign(tables, { perBot: 1, rowsPerBot: 10 })
  try {
    await call('createTable', { name: 'oneTable', schema: { a: 'x' }, factor: 3 })
    await expect(call('createTable', { name: 'twoTable', schema: { a: 'x' } })).rejects.toMatchObject(
      overQuota('BOT_TABLES'),
    )
    await call('createTableRows', { table: 'oneTable', rows: [{}, {}, {}] })
    await expect(call('createTableRows', { table: 'oneTable', rows: [{}] })).rejects.toMatchObject(
      overQuota('BOT_TABLE_ROWS'),
    )
    await expect(call('updateTable', { table: 'oneTable', factor: 4 })).rejects.toMatchObject(
      overQuota('BOT_TABLE_ROWS'),
    )
    expect((await call('getTable', { table: 'oneTable' })).rows).toBe(3)
  } finally {
    Object.assign(tables, before)
  }
})

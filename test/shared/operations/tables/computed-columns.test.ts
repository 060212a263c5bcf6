import { Client } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'
import { Processes } from '../../../support/processes.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- Answers are asserted on field by field.
type Given = any

/** Computes as the public development kit does: chained columns in the order of their dependencies. */
const code = `
  let calls = 0
  const columns = {
    total: (row) => row.price * row.count,
    tax: (row) => row.total / 5,
    label: (row) => {
      if (row.price < 0) throw new Error('A price is not negative')
      return row.price === 13 ? 13 : 'costs ' + row.price
    },
    slow: async (row) => { await new Promise((resolve) => setTimeout(resolve, 300)); return row.price },
  }
  export const actions = {
    async tablesRecomputeRows({ input, client }) {
      calls += 1
      const { table } = await client.getTable({ table: input.tableId })
      if (table.name.startsWith('failing')) throw new Error('out of order')
      if (table.name.startsWith('odd')) return { isFinished: false, rows: [{ id: 4711 }, null, 7] }
      const several = table.name.startsWith('piecemeal')
      const rows = []
      for (const { row, columnsToRecompute } of several ? input.requests.slice(0, 1) : input.requests) {
        const outcomes = { id: row.id }
        for (const name of Object.keys(columns).filter((one) => columnsToRecompute.includes(one))) {
          try {
            row[name] = await columns[name](row)
            outcomes[name] = { status: 'computed', value: row[name] }
          } catch (error) {
            outcomes[name] = { status: 'error', error: error.message }
          }
        }
        rows.push(outcomes)
      }
      return { isFinished: !several || input.requests.length === 1, rows }
    },
    count: () => ({ calls }),
  }
  export const hooks = {}`

const computed = (type: string, dependencies: string[], others: object = {}) => ({
  type,
  'x-zui': { computed: { action: 'code', dependencies, ...others } },
})

const columns = {
  price: { type: 'number' },
  count: { type: 'number' },
  note: { type: 'string' },
  total: computed('number', ['price', 'count']),
  tax: computed('number', ['total']),
  label: computed('string', ['price']),
}

let platform: Platform
let client: Client
let botId: string
beforeAll(async () => {
  platform = await openPlatform({
    backEnd: 'postgres',
    // A worker with one slot computes too.
    environment: { WORKER_CONCURRENCY: '1', WORKER_SWEEP_SECONDS: '1' },
  })
  ;({ id: botId } = await platform.createBot(code))
  client = new Client({ apiUrl: platform.url, token: platform.token, botId })
})
afterAll(() => platform[Symbol.asyncDispose]())

async function createTable(name = 'sums', properties: object = columns, others: object = {}): Promise<string> {
  const schema = { type: 'object', properties }
  const given: Given = { name: `${name}${newId('check').slice(-8)}Table`, schema, ...others }
  return (await client.createTable(given)).table.id
}

const waitComputed = true

/** The rows of a table, once none of them is stale. */
async function settled(table: string): Promise<Given[]> {
  await expect.poll(async () => (await client.getTable({ table })).stale, { timeout: 20_000 }).toBe(0)
  return (await client.findTableRows({ table })).rows
}

describe('values of computed columns', () => {
  test('are computed for new rows, chained ones too, and an answer may wait for them', async () => {
    const table = await createTable()
    const { rows } = await client.createTableRows({ table, rows: [{ price: 10, count: 3 }], waitComputed })
    const done = { status: 'computed', updatedAt: expect.any(String) }
    expect(rows).toMatchObject([{ total: 30, tax: 6, label: 'costs 10', computed: { total: done, tax: done } }])
    expect(rows[0]!.stale).toBeUndefined()
  })

  test.each(['rows', 'rows/upsert'])('are awaited by a request with an idempotency key too: POST %s', async (path) => {
    const table = await createTable()
    const headers = { 'x-bot-id': botId, 'idempotency-key': newId('check') }
    const given = { rows: [{ price: 10, count: 3 }], waitComputed }
    const write = () => platform.ask('POST', `/v1/tables/${table}/${path}`, given, headers)
    const first = await write()
    expect(first.body.rows ?? first.body.inserted).toMatchObject([{ total: 30, tax: 6 }])
    expect((await write()).body).toEqual(first.body)
    expect((await client.getTable({ table })).rows).toBe(1)
  })

  test('are out of date first, and computed soon after an answer that does not wait', async () => {
    const table = await createTable()
    const { rows } = await client.createTableRows({ table, rows: [{ price: 10, count: 3 }] })
    const pending = { status: 'pending' }
    expect(rows).toMatchObject([{ total: null, computed: { total: pending, tax: pending, label: pending } }])
    expect(rows[0]!.stale!.toSorted()).toEqual(['label', 'tax', 'total'])
    expect(await settled(table)).toMatchObject([{ total: 30, tax: 6 }])
  })

  test('are computed again only for changes of what they depend on', async () => {
    const table = await createTable()
    const { rows } = await client.createTableRows({ table, rows: [{ price: 10, count: 3 }], waitComputed })
    const { id } = rows[0]!
    const same = await client.updateTableRows({ table, rows: [{ id, note: 'new', price: 10 }] })
    expect(same.rows[0]).toMatchObject({ total: 30, computed: { total: { status: 'computed' } } })
    expect(same.rows[0]!.stale).toBeUndefined()
    const other = await client.updateTableRows({ table, rows: [{ id, count: 4 }] })
    expect(other.rows[0]!.stale!.toSorted()).toEqual(['tax', 'total'])
    expect(await settled(table)).toMatchObject([{ total: 40, tax: 8, label: 'costs 10' }])
  })

  test('that a writer gives stay, and those that depend on them are computed', async () => {
    const table = await createTable()
    const { rows } = await client.createTableRows({ table, rows: [{ price: 10, total: 100 }], waitComputed })
    expect(rows).toMatchObject([{ total: 100, tax: 20 }])
  })

  test('have the error of the bot, of a value of another type, or of an action that gives none', async () => {
    const table = await createTable()
    const { rows } = await client.createTableRows({ table, rows: [{ price: -1 }, { price: 13 }], waitComputed })
    expect(rows[0]).toMatchObject({
      label: null,
      computed: { label: { status: 'error', error: 'A price is not negative' } },
    })
    expect(rows[1]).toMatchObject({ label: null, computed: { label: { error: 'label must be string' } } })
    for (const [name, problem] of [
      ['odd', 'gave no value'],
      ['failing', 'out of order'],
    ] as const) {
      const odd = await client.createTableRows({ table: await createTable(name), rows: [{ price: 1 }], waitComputed })
      expect(odd.rows[0]!.computed['total']).toMatchObject({ status: 'error', error: expect.stringContaining(problem) })
      expect(odd.rows[0]!.stale).toBeUndefined()
    }
  })

  test('that only a model or a workflow could compute say so', async () => {
    const table = await createTable('texts', {
      price: { type: 'number' },
      text: computed('string', ['price'], { action: 'ai', prompt: 'Describe {{price}}' }),
    })
    const { rows } = await client.createTableRows({ table, rows: [{ price: 1 }], waitComputed })
    expect(rows[0]!.computed['text']).toMatchObject({ status: 'error', error: expect.stringContaining("'ai'") })
  })

  test('come from several calls where the action gives some of them each time', async () => {
    const table = await createTable('piecemeal')
    const rows = Array.from({ length: 5 }, (_, index) => ({ price: index, count: 1 }))
    const written = await client.createTableRows({ table, rows, waitComputed })
    expect(written.rows.map(({ total }) => total)).toEqual([0, 1, 2, 3, 4])
  })

  test('of many rows, imports among them, are computed without a wait', async () => {
    const table = await createTable()
    const { file } = await client.uploadFile({ key: 'sums.csv', content: 'price,count\n2,3\n4,5\n' })
    await client.importTable({ table, fileId: file.id })
    await client.createTableRows({ table, rows: Array.from({ length: 50 }, () => ({ price: 1, count: 1 })) })
    await expect.poll(async () => (await client.getTable({ table })).rows, { timeout: 20_000 }).toBe(52)
    const totals = (await settled(table)).map(({ total }) => total)
    expect(totals.toSorted((one, other) => other - one).slice(0, 3)).toEqual([20, 6, 1])
  })

  test('stay out of date where computing is off, and are computed once it is on', async () => {
    const table = await createTable('off', columns, { isComputeEnabled: false })
    const { rows } = await client.createTableRows({ table, rows: [{ price: 2, count: 2 }], waitComputed })
    expect(rows[0]!.stale).toHaveLength(3)
    await client.updateTable({ table, isComputeEnabled: true })
    expect(await settled(table)).toMatchObject([{ total: 4 }])
  })

  test('are out of date in all rows after a change of the column, and dropped with it', async () => {
    const table = await createTable()
    await client.createTableRows({ table, rows: [{ price: 2, count: 2 }], waitComputed })
    const schema: Given = { type: 'object', properties: { total: computed('number', ['price']) } }
    const changed: Given = await client.updateTable({ table, schema })
    expect(changed.staleColumns.toSorted()).toEqual(['tax', 'total'])
    expect(await settled(table)).toMatchObject([{ total: 4 }])
    const gone: Given = {
      type: 'object',
      properties: { tax: null, label: { type: 'string', 'x-zui': { computed: null } } },
    }
    await client.updateTable({ table, schema: gone })
    const { rows } = await client.createTableRows({ table, rows: [{ price: 3, count: 2 }], waitComputed })
    expect(rows[0]).toMatchObject({ total: 6, label: null })
    expect(Object.keys(rows[0]!.computed)).toEqual(['total'])
    expect((await client.findTableRows({ table })).rows[0]!.computed).toEqual({ total: expect.anything() })
  })

  test('depend on a renamed column by its new name', async () => {
    const table = await createTable()
    await client.renameTableColumn({ table, name: 'note', newName: 'remark' })
    const renamed: Given = await client.renameTableColumn({ table, name: 'count', newName: 'number' })
    const { dependencies } = renamed.table.schema.properties.total['x-zui'].computed
    expect(dependencies).toEqual(['price', 'number'])
  })

  test('of a duplicate are computed as well', async () => {
    const table = await createTable('off', columns, { isComputeEnabled: false })
    await client.createTableRows({ table, rows: [{ price: 2, count: 2 }] })
    await client.updateTable({ table, isComputeEnabled: true })
    const copy = await client.duplicateTable({ sourceTableId: table })
    expect(await settled(copy.table.id)).toMatchObject([{ total: 4 }])
  })

  test('of a row that changes meanwhile are those of its last change', async () => {
    const table = await createTable('races', { price: { type: 'number' }, slow: computed('number', ['price']) })
    const { rows } = await client.createTableRows({ table, rows: [{ price: 0 }] })
    for (let price = 1; price <= 5; price += 1) {
      await client.updateTableRows({ table, rows: [{ id: rows[0]!.id, price }] })
    }
    expect(await settled(table)).toMatchObject([{ price: 5, slow: 5 }])
  })
})

test.each([
  ['a dependency that is no column', computed('number', ['prices']), "depends on 'prices', which is no column"],
  ['a dependency on itself', computed('number', ['total']), 'depends on itself: total → total'],
  ['another action', computed('number', [], { action: 'magic' }), 'not one of code, ai, workflow'],
  ['misspelt dependencies', computed('number', [], { dependancies: ['price'] }), "did you mean 'dependencies'?"],
  [
    'a misspelt setting',
    { type: 'number', 'x-zui': { searchabel: true } },
    "x-zui.searchabel; did you mean 'searchable'?",
  ],
  ['dependencies that are no list', computed('number', 'price' as Given), 'no list of column names'],
])('a column with %s is refused', async (_, total, problem) => {
  const { status, body } = await platform.ask(
    'POST',
    '/v1/tables',
    { name: 'refusedTable', schema: { type: 'object', properties: { price: { type: 'number' }, total } } },
    { 'x-bot-id': botId, authorization: `Bearer ${platform.token}` },
  )
  expect({ status, type: body.type }).toEqual({ status: 400, type: 'InvalidJsonSchema' })
  expect(body.message).toContain(problem)
})

test('a computed column is no key', async () => {
  const table = await createTable()
  await expect(client.updateTable({ table, keyColumn: 'total' })).rejects.toThrow("'total' is computed")
})

test('a table of a bot without the action names it', async () => {
  const bot = await platform.createBot()
  const other = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.id })
  await other.createTable({ name: 'idleTable', schema: { type: 'object', properties: columns } })
  const { rows } = await other.createTableRows({ table: 'idleTable', rows: [{ price: 1 }], waitComputed })
  expect(rows[0]!.computed['total']).toMatchObject({
    error: expect.stringContaining("no action 'tablesRecomputeRows'"),
  })
})

test('values that a killed worker was computing are computed by another one', { timeout: 60_000 }, async () => {
  await using own = await openPlatform({ worker: false, environment: { WORKER_SWEEP_SECONDS: '1' } })
  const processes = new Processes()
  try {
    const victim = await processes.start(own, 'worker')
    const { id } = await own.createBot(code)
    const its = new Client({ apiUrl: own.url, token: own.token, botId: id })
    const properties: Given = { price: { type: 'number' }, slow: computed('number', ['price']) }
    await its.createTable({ name: 'slowTable', schema: { type: 'object', properties } })
    await its.createTableRows({ table: 'slowTable', rows: Array.from({ length: 12 }, (_, price) => ({ price })) })
    const running = () => own.context.db('events').where({ bot_id: id }).whereNotNull('started_at')
    await expect.poll(running, { timeout: 10_000, interval: 10 }).toHaveLength(1)
    process.kill(victim.pid, 'SIGKILL')
    await processes.start(own, 'worker')
    await expect.poll(async () => (await its.getTable({ table: 'slowTable' })).stale, { timeout: 40_000 }).toBe(0)
    const { rows } = await its.findTableRows({ table: 'slowTable' })
    expect(rows.every(({ price, slow }) => slow === price)).toBe(true)
  } finally {
    await processes.stop()
  }
})

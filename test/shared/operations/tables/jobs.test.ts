import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import type { TableJob } from '#shared/models/table-job.ts'
import { claimTableJob, completeTableJob, lockTableJob, StaleRunError } from '#shared/store/table-jobs.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'
import { clientNames, openClients, type BotWithClients, type Call } from '../runtime/clients.ts'

let platform: Platform
let own: BotWithClients
beforeAll(async () => {
  const environment = { BOT_TABLE_ROWS: '3000', WORKER_SWEEP_SECONDS: '1' }
  platform = await openPlatform({ backEnd: 'postgres', environment })
  own = await openClients(platform)
})
afterAll(() => platform[Symbol.asyncDispose]())

const columns = {
  name: { type: 'string' },
  age: { type: 'number' },
  active: { type: 'boolean' },
  seen: { type: 'string', format: 'date-time' },
  notes: { type: 'object' },
  labels: { type: 'array' },
}

const rows = [
  { name: 'Ada, "the first"', age: 36.5, active: true, notes: { stars: 3 }, labels: ['a', 'b'] },
  { name: '', age: -1, active: false, seen: '2026-11-22T10:00:00.000Z' },
  { name: '=1+2\nü€😀' },
]

const call: Call = (...given) => own.clients['the published client'](...given)

async function createTable(given: object = {}, through = call): Promise<string> {
  const name = `jobs${newId('check').slice(-10)}Table`
  return (await through('createTable', { name, schema: { type: 'object', properties: columns }, ...given })).table.id
}

async function upload(key: string, content: string | Uint8Array): Promise<string> {
  const { file } = await call('upsertFile', { key, size: 0 })
  expect((await fetch(file.uploadUrl, { method: 'PUT', body: Buffer.from(content) })).status).toBe(200)
  return file.id
}

async function settled(table: string, id: string, through = call): Promise<TableJob> {
  let job: TableJob | undefined
  const status = async () => {
    const { jobs } = (await through('getTableJobs', { table })) as { jobs: TableJob[] }
    job = jobs.find((one) => one.id === id)
    return job?.status
  }
  await expect.poll(status, { timeout: 30_000 }).toMatch(/^(?:completed|failed)$/)
  return job!
}

async function importFile(table: string, content: string | Uint8Array, key = `in-${newId('check')}`) {
  const { job } = await call('importTable', { table, fileId: await upload(key, content) })
  return settled(table, job.id)
}

async function exported(table: string, given: object, through = call): Promise<Buffer> {
  const { job } = await through('exportTable', { table, ...given })
  expect(job).toMatchObject({ type: 'export', status: 'pending', progress: 0, inputFileId: null, outputFileId: null })
  const done = await settled(table, job.id, through)
  expect(done).toMatchObject({ status: 'completed', progress: 100, outputFileId: expect.any(String) })
  const { file } = await call('getFile', { id: done.outputFileId })
  return Buffer.from(await (await fetch(file.url)).arrayBuffer())
}

async function rowsOf(table: string): Promise<Record<string, unknown>[]> {
  const found = await call('findTableRows', { table, limit: 1000 })
  return found.rows.map(
    ({ createdAt: _createdAt, updatedAt: _updatedAt, computed: _computed, ...row }: Record<string, unknown>) => row,
  )
}

const empty = { name: null, age: null, active: null, seen: null, notes: null, labels: null }
const stored = rows.map((row, index) => ({ ...empty, ...row, id: index + 1 }))

describe.each(clientNames)('through %s', (clientName) => {
  const through: Call = (...given) => own.clients[clientName](...given)

  test.each([
    ['csv', true],
    ['csv', false],
    ['json', true],
    ['json', false],
  ] as const)('an export as %s, compressed: %s, can be imported', async (format, compress) => {
    const table = await createTable({}, through)
    await through('createTableRows', { table, rows })
    const content = await exported(table, { format, compress }, through)
    const text = (compress ? gunzipSync(content) : content).toString()
    expect(text).toContain('=1+2')
    const copy = await createTable({}, through)
    const fileId = await upload(`copy-of-${table}`, content)
    const { job } = await through('importTable', { table: copy, fileId })
    expect(job).toMatchObject({ type: 'import', inputFileId: fileId, outputFileId: null, tableId: copy })
    expect(await settled(copy, job.id, through)).toMatchObject({ status: 'completed', progress: 100 })
    expect(await rowsOf(copy)).toEqual(stored)
  })

  test('an import without its file, or without the content, is refused', async () => {
    const table = await createTable({}, through)
    const refused = { code: 400, type: 'ReferenceNotFound' }
    await expect(through('importTable', { table, fileId: 'file_none' })).rejects.toMatchObject(refused)
    const { file } = await call('upsertFile', { key: 'without content', size: 0 })
    await expect(through('importTable', { table, fileId: file.id })).rejects.toMatchObject(refused)
    await expect(through('exportTable', { table: 'noneTable' })).rejects.toMatchObject({ code: 404 })
  })
})

describe('an import', () => {
  test.each([
    ['JSON', JSON.stringify(rows)],
    ['lines of JSON', rows.map((row) => JSON.stringify(row)).join('\n')],
    ['compressed JSON', gzipSync(JSON.stringify(rows))],
    ['CSV with few columns, in another order', 'age,name\r\n1,x\r\n,y\r\n'],
    ['CSV with few columns, in UTF-16 without a mark', Buffer.from('age,name\r\n1,x\r\n,y\r\n', 'utf16le')],
  ])('reads %s', async (name, content) => {
    const table = await createTable()
    expect(await importFile(table, content)).toMatchObject({ status: 'completed' })
    const few = [
      { ...empty, id: 1, age: 1, name: 'x' },
      { ...empty, id: 2, name: 'y' },
    ]
    expect(await rowsOf(table)).toEqual(name.startsWith('CSV') ? few : stored)
  })

  test('names the records that fail on the job, and stores the others', async () => {
    const table = await createTable({ keyColumn: 'name' })
    const text = 'name,age,more\na,1,\nb,old,\nb2,3,\nc,4,5,6\nd,\n'
    const job = await importFile(table, text)
    expect(job).toMatchObject({ status: 'completed' })
    expect(job.errors?.toSorted()).toEqual([
      "The table has no column 'more': its values are ignored",
      'records.2.age must be number, as 12.5 is',
      'records.4 has 4 cells, more than there are columns (3)',
    ])
    expect((await rowsOf(table)).map((row) => row['name'])).toEqual(['a', 'b2', 'd'])
  })

  test('of CSV stores no whole number as another one, and names its record', async () => {
    const table = await createTable()
    const ages = ['9007199254740993', '9007199254740992', ' -12345678901234567890', '1000000000000000000000', '0.1']
    const { status, errors } = await importFile(table, `age\n${ages.join('\n')}\n`)
    const problem = 'age has more digits than a number keeps: the column needs the type string'
    expect({ status, errors: errors?.toSorted() }).toEqual({
      status: 'completed',
      errors: [`records.1.${problem}`, `records.3.${problem}`],
    })
    expect((await rowsOf(table)).map(({ age }) => age)).toEqual([9007199254740992, 1e21, 0.1])
  })

  test('into a table with a key column changes the given columns of rows whose key exists', async () => {
    const table = await createTable({ keyColumn: 'name' })
    await call('createTableRows', {
      table,
      rows: [
        { name: 'a', age: 1, active: true },
        { name: 'b', age: 2, active: true },
      ],
    })
    // The record that is read last prevails; those without a key are new rows.
    const job = await importFile(table, 'name,age\na,10\nc,3\nb,\n,7\n,8\nc,30\n')
    expect(job).toMatchObject({ status: 'completed' })
    expect(job.errors).toBeUndefined()
    expect(await rowsOf(table)).toEqual([
      { ...empty, id: 1, name: 'a', age: 10, active: true },
      { ...empty, id: 2, name: 'b', active: true },
      { ...empty, id: 3, name: 'c', age: 30 },
      { ...empty, id: 4, age: 7 },
      { ...empty, id: 5, age: 8 },
    ])
    await importFile(table, JSON.stringify([{ name: 'a', labels: ['x'] }]))
    expect((await rowsOf(table))[0]).toEqual({ ...empty, id: 1, name: 'a', age: 10, active: true, labels: ['x'] })
  })

  test('of small changes to rows that are larger together than an answer is carried out', async () => {
    const name = { type: 'string' }
    const table = await createTable({
      keyColumn: 'name',
      factor: 30,
      schema: { name, text: name, age: { type: 'number' } },
    })
    const text = 'x'.repeat(118_000)
    const { db } = platform.context
    const { columns } = (await db('bot_tables').where({ id: table }).first())!
    const [nameField, textField] = [columns['name']!.field, columns['text']!.field]
    await db.raw(
      `insert into table_rows (table_id, id, data, key, bytes)
       select ?, n, jsonb_build_object(?::text, n::text, ?::text, ?::text), '=' || n, 118000 from generate_series(1, 450) n`,
      [table, nameField, textField, text],
    )
    await db('bot_tables').where({ id: table }).update({ next_row_id: 451 })
    const job = await importFile(table, `name,age\n${Array.from({ length: 450 }, (_, n) => `${n + 1},5\n`).join('')}`)
    expect(job).toMatchObject({ status: 'completed' })
    const { rows: found } = await call('findTableRows', { table, filter: { age: 5 }, group: { id: 'count' } })
    expect(found).toMatchObject([{ idCount: 450 }])
    await call('deleteTable', { table })
  })

  test.each([
    ['a line of commas', Buffer.alloc(1e6, ','), 'Line 1 of the CSV has more than 1000 cells'],
    ['JSON that ends early', '[{"name":"a"},{"name":', 'ends within'],
    ['an array of numbers', '[1]', 'records are JSON objects'],
    ['deep JSON', `[{"name":${'['.repeat(1000)}${']'.repeat(1000)}}]`, 'nested more than 500'],
    ['one long text', `[{"name":"${'x'.repeat(2_000_000)}"}]`, 'more than 1048576 characters'],
    ['one long cell', `name\n"${'x'.repeat(2_000_000)}"`, 'not valid CSV'],
    ['an open quotation', 'name\n"a', 'not valid CSV'],
    ['a CSV of another table', 'nom,ville\na,b\n', "No column of the CSV is a column of the table: 'nom', 'ville'"],
    ['a text with U+0000', '[{"name":"a\0b"}]', 'not valid JSON'],
    ['a column twice', 'name,name\na,b', 'one name'],
    ['broken gzip', Buffer.concat([gzipSync('name\na'.repeat(100)).subarray(0, 20), Buffer.alloc(20)]), 'gzip'],
    ['a bomb of one cell', gzipSync(Buffer.alloc(1e8, 'x')), 'Max Record Size'],
    ['too many rows', `name\n${'x\n'.repeat(4000)}`, 'BOT_TABLE_ROWS'],
  ])('of %s fails, and the job has the reason', async (_name, content, reason) => {
    const table = await createTable()
    const job = await importFile(table, content)
    expect(job).toMatchObject({ status: 'failed', failedStatusReason: expect.stringContaining(reason) })
    await call('deleteTable', { table })
  })

  test('has fields of prototypes as unknown columns', async () => {
    const table = await createTable()
    const job = await importFile(table, 'name,__proto__,constructor\na,b,c')
    expect(job.errors).toHaveLength(2)
    expect(await rowsOf(table)).toEqual([{ ...empty, id: 1, name: 'a' }])
  })

  test('has a column whose name cannot be stored as an unknown one', async () => {
    const table = await createTable()
    const job = await importFile(table, JSON.stringify([{ name: 'a', 'b\0': 1, 'c\ud800': 2 }]))
    expect(job).toMatchObject({ status: 'completed', errors: [expect.any(String), expect.any(String)] })
    expect(await rowsOf(table)).toEqual([{ ...empty, id: 1, name: 'a' }])
  })

  test('ends with its table', async () => {
    const table = await createTable()
    const { job } = await call('importTable', { table, fileId: await upload('again.csv', 'name\na') })
    await call('deleteTable', { table })
    const { db } = platform.context
    await expect.poll(async () => (await db('table_jobs').where({ id: job.id })).length).toBe(0)
  })

  test('of a file that is replaced before it begins fails', async () => {
    const table = await createTable()
    const { db } = platform.context
    const { bot_id, id: table_id } = (await db('bot_tables').where({ id: table }).first())!
    const input_file_id = await upload('replaced.csv', 'name\na')
    const job = { id: newId('job'), bot_id, table_id, type: 'import' as const, input_file_id, input_generation: 1 }
    await upload('replaced.csv', 'name\nb')
    await db('table_jobs').insert(job)
    await db('table_jobs')
      .where({ id: job.id })
      .update({ updated_at: new Date(0) })
    const reason = { status: 'failed', failedStatusReason: expect.stringContaining('upserted again') }
    expect(await settled(table, job.id)).toMatchObject(reason)
  })
})

test('a run that is no longer the newest writes nothing', async () => {
  const table = await createTable()
  const { db } = platform.context
  const { bot_id, id: table_id } = (await db('bot_tables').where({ id: table }).first())!
  const job = { id: newId('job'), bot_id, table_id, type: 'export' as const }
  await db('table_jobs').insert(job)
  const [former, newest] = [(await claimTableJob(db, job.id))!, (await claimTableJob(db, job.id))!]
  await expect(db.transaction((transaction) => lockTableJob(transaction, former))).rejects.toThrow(StaleRunError)
  await expect(completeTableJob(db, former)).rejects.toThrow(StaleRunError)
  await completeTableJob(db, newest)
})

test('a table has at most ten jobs that have not ended, and lists the newest 20', async () => {
  const table = await createTable()
  const { db } = platform.context
  const { bot_id } = (await db('bot_tables').where({ id: table }).first())!
  const ended = Array.from({ length: 25 }, () => ({
    id: newId('job'),
    bot_id,
    table_id: table,
    type: 'export' as const,
  }))
  await db('table_jobs').insert(ended.map((job) => ({ ...job, status: 'completed' as const })))
  expect((await call('getTableJobs', { table })).jobs).toHaveLength(20)
  await db('table_jobs')
    .whereIn(
      'id',
      ended.slice(0, 10).map(({ id }) => id),
    )
    .update({ status: 'pending' })
  await expect(call('exportTable', { table })).rejects.toMatchObject({ code: 409, type: 'ResourceLockedConflict' })
})

import { setTimeout as pause } from 'node:timers/promises'
import { megabyte } from '#shared/units.ts'
import { startTableHost, type TableHost } from './isobot.ts'
import { round, table } from './report.ts'
import type { Servers } from './servers.ts'
import { percentile } from './statistics.ts'
import type { SystemOptions } from './system.ts'

const rowCount = 100_000
/** Rows of one call: the most that it takes. */
const batchSize = 1000
/** Requests of each kind; equality, whose target is the lowest, has more. */
const [requests, equalities] = [20, 100]

/** The largest p95, in milliseconds. */
const targets = { equality: 50, others: 400 }

interface Measured {
  /** Milliseconds in which all rows were created, over HTTP. */
  created: number
  queries: { name: string; target?: number; sorted: number[] }[]
  jobs: Jobs
}

/** Milliseconds of the import and the export of all rows, by one worker. */
interface Jobs {
  imported: number
  exported: number
  /** Of the CSV that was imported. */
  megabytes: number
}

const columns = {
  name: { type: 'string', 'x-zui': { searchable: true } },
  email: { type: 'string' },
  age: { type: 'number' },
  amount: { type: 'number' },
  status: { type: 'string' },
  seen: { type: 'string', format: 'date-time' },
  tags: { type: 'array', items: { type: 'string' } },
  note: { type: 'string' },
}

/** Numbers that look random and are each used once. */
const scattered = (index: number) => (index * 7919) % 100_003

function rowAt(index: number) {
  return {
    name: `customer ${scattered(index)}`,
    email: `${scattered(index).toString(36)}@example.com`,
    age: index % 90,
    amount: scattered(index) / 100,
    status: ['open', 'closed', 'pending'][index % 3],
    seen: new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString(),
    tags: [`t${index % 10}`, `u${index % 7}`],
    note: 'lorem ipsum dolor sit amet '.repeat(4),
  }
}

/** The queries by name: the body of the request at each repetition. */
const queries: Record<string, (repetition: number) => object> = {
  'equality, one row': (repetition) => ({ filter: { email: rowAt(repetition * 997).email } }),
  'equality, a third of the rows': () => ({ filter: { status: 'open' } }),
  'equality, a third of the rows, ordered': () => ({ filter: { status: 'open' }, orderBy: 'amount' }),
  'list of three': (repetition) => ({
    filter: { name: { $in: [1, 2, 3].map((index) => `customer ${repetition + index}`) } },
  }),
  'range of numbers': (repetition) => ({ filter: { amount: { $gte: repetition, $lt: repetition + 1 } } }),
  'range of times': () => ({ filter: { seen: { $gte: '2026-03-01', $lt: '2026-03-02' } } }),
  pattern: (repetition) => ({ filter: { name: { $regex: `${repetition}.*7$` } } }),
  'order by number': () => ({ orderBy: 'amount', orderDirection: 'desc' }),
  'order by text': () => ({ orderBy: 'email' }),
  'last page': () => ({ offset: rowCount - 100 }),
  'last page, ordered by text': () => ({ orderBy: 'email', offset: rowCount - 100 }),
  group: () => ({ group: { status: 'key', amount: ['sum', 'avg'], id: 'count' } }),
  search: (repetition) => ({ search: `custmer ${repetition}` }),
}

/** Measures finding rows among 100,000 over HTTP, with the rows of another table beside them. */
export async function measureTables(servers: Servers): Promise<Measured> {
  await using parts = new AsyncDisposableStack()
  const environment = { BOT_TABLE_ROWS: String(rowCount * 3) }
  const options: SystemOptions = { servers, backEnd: 'postgres', conversations: 0, nodeOptions: [], parts }
  const host = await startTableHost('tables', options, environment)
  await fill(host, 'OtherTable', rowCount / 2)
  const before = performance.now()
  await fill(host, 'CustomerTable', rowCount)
  const created = performance.now() - before
  await servers.postgres.settle(host.databaseUrl)
  const measured: Omit<Measured, 'jobs'> = { created, queries: [] }
  for (const [name, bodyAt] of Object.entries(queries)) {
    const isEquality = name.startsWith('equality, one')
    const sorted = await measure(host, bodyAt, isEquality ? equalities : requests)
    const isTarget = name !== 'group' && name !== 'search'
    measured.queries.push({
      name,
      ...(isTarget && { target: isEquality ? targets.equality : targets.others }),
      sorted,
    })
  }
  const jobs = await measureJobs(host)
  return { ...measured, jobs }
}

/** Imports as many rows from CSV, exports them, and gives the milliseconds of both jobs. */
async function measureJobs({ ask, url, headers, startWorker }: TableHost): Promise<Jobs> {
  await startWorker()
  const send = async <Answer>(method: string, path: string, body?: object): Promise<Answer> => {
    const json = { ...headers, 'content-type': 'application/json' }
    const response = await fetch(`${url}${path}`, {
      method,
      headers: json,
      ...(body && { body: JSON.stringify(body) }),
    })
    return (await response.json()) as Answer
  }
  await ask('/v1/tables', { name: 'ImportedTable', schema: { type: 'object', properties: columns } })
  const { file } = await send<{ file: { uploadUrl: string } }>('PUT', '/v1/files', { key: 'rows.csv', size: 0 })
  const names = Object.keys(columns) as (keyof typeof columns)[]
  const records = Array.from({ length: rowCount }, (_, index) => {
    const row = rowAt(index)
    const tags = `"${JSON.stringify(row.tags).replaceAll('"', '""')}"`
    return names.map((name) => (name === 'tags' ? tags : row[name])).join()
  })
  const content = [names.join(), ...records].join('\n')
  await fetch(file.uploadUrl, { method: 'PUT', body: content })
  const ended = async ({ id }: { id: string }) => {
    for (;;) {
      const path = '/v1/tables/ImportedTable/jobs'
      const { jobs } = await send<{ jobs: { id: string; status: string; errors?: string[] }[] }>('GET', path)
      const job = jobs.find((one) => one.id === id)!
      if (job.status === 'failed' || job.errors) throw new Error(`A job of a table failed: ${JSON.stringify(job)}`)
      if (job.status === 'completed') return
      await pause(100)
    }
  }
  const begin = performance.now()
  await ended((await ask<{ job: { id: string } }>('/v1/tables/ImportedTable/import', { fileId: 'rows.csv' })).job)
  const imported = performance.now() - begin
  await ended((await send<{ job: { id: string } }>('GET', '/v1/tables/ImportedTable/export')).job)
  return { imported, exported: performance.now() - begin - imported, megabytes: content.length / megabyte }
}

async function fill({ ask }: TableHost, name: string, count: number): Promise<void> {
  await ask('/v1/tables', { name, schema: { type: 'object', properties: columns } })
  for (let from = 0; from < count; from += batchSize) {
    const rows = Array.from({ length: Math.min(batchSize, count - from) }, (_, index) => rowAt(from + index))
    const { errors } = await ask<{ errors?: string[] }>(`/v1/tables/${name}/rows`, { rows })
    if (errors?.length) throw new Error(`A row could not be created: ${errors[0]}`)
  }
}

async function measure({ ask }: TableHost, bodyAt: (repetition: number) => object, times: number): Promise<number[]> {
  const taken: number[] = []
  // The first one is not counted: it opens the connection.
  for (let repetition = 0; repetition <= times; repetition++) {
    const begin = performance.now()
    const { rows } = await ask<{ rows: unknown[] }>('/v1/tables/CustomerTable/rows/find', bodyAt(repetition))
    if (rows.length === 0) throw new Error(`Nothing was found: ${JSON.stringify(bodyAt(repetition))}`)
    if (repetition > 0) taken.push(performance.now() - begin)
  }
  return taken.toSorted((a, b) => a - b)
}

/** One line on the load. */
export function describeTables({ created, jobs: { imported, exported, megabytes } }: Measured): string {
  const rate = round(rowCount / (created / 1000))
  const [importSeconds, exportSeconds] = [imported, exported].map((milliseconds) => round(milliseconds / 1000))
  return (
    `${rowCount} rows of ${Object.keys(columns).length} columns, with ${rowCount / 2} of another table beside them, created over ` +
    `HTTP at ${rate} a second; pages of 100 rows, one request at a time. As many imported from ${round(megabytes)} MB of CSV ` +
    `in ${importSeconds} s, and exported in ${exportSeconds} s`
  )
}

/** Makes the Markdown table. */
export function tablesTable({ queries: measured }: Measured): string {
  return table(
    ['find rows', 'p50 ms', 'p95 ms', 'slowest ms', 'aim, p95 ms'],
    measured.map(({ name, target, sorted }) => [
      name,
      round(percentile(sorted, 50)),
      round(percentile(sorted, 95)),
      round(sorted.at(-1)!),
      target === undefined ? '' : `≤ ${target}`,
    ]),
  )
}

import { createHash } from 'node:crypto'
import { Client } from 'pg'
import { readConfig } from '#shared/config/config.ts'
import { openContext } from '#shared/context.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { openFileSweep } from '../../../worker/periodic/file-sweep.ts'
import type { Talk } from '../talk.ts'
import { leftBy, tables } from './bot.ts'
import { sharedItems, writerTables, type Writer, type WrittenFile } from './writers.ts'

/** Deviations of files and tables from a run without faults. */
export interface DataDifferences {
  /** Acknowledged contents that are missing or different, and files that nobody acknowledged. */
  otherFiles: number
  /** Indexed files that are neither found by their text nor failed with a reason. */
  otherIndexes: number
  /** Rows that are missing, different, or that exist more than once. */
  otherRows: number
  /** Objects without a file after the sweep, and parts without an object. */
  orphans: number
  /** Counters that differ from what they count. */
  otherCounters: number
  examples: string[]
}

export interface DataCheck {
  differences: DataDifferences
  /** Files, their bytes, and rows at the end. */
  found: { files: number; bytes: number; indexed: number; failedIndexes: Map<string, number>; rows: number }
  /** Objects without a file before the sweep: what interrupted uploads and replaced contents left behind. */
  sweptObjects: number
}

type Query = <Row extends object>(statement: string, values?: unknown[]) => Promise<Row[]>

const maxExamples = 10
/** Older than any upload may last. */
const laterHours = 4

/** Counts the files that wait to be indexed. */
export async function countUnindexed(databaseUrl: string): Promise<number> {
  return withQuery(databaseUrl, async (query) => {
    const [row] = await query<{ count: number }>(
      `select count(*)::integer as count from files where status = 'indexing_pending'`,
    )
    return row!.count
  })
}

/** Compares files and tables with what was acknowledged, and sweeps. Nothing may be in flight any more. */
export async function checkData(databaseUrl: string, talks: Talk[], writers: Writer[]): Promise<DataCheck> {
  const differences: DataDifferences = {
    otherFiles: 0,
    otherIndexes: 0,
    otherRows: 0,
    orphans: 0,
    otherCounters: 0,
    examples: [],
  }
  const report = (kind: Exclude<keyof DataDifferences, 'examples'>, text: string) => {
    differences[kind] += 1
    if (differences.examples.length < maxExamples) differences.examples.push(`${kind}: ${text}`)
  }
  return withQuery(databaseUrl, async (query) => {
    const sweptObjects = await sweep(databaseUrl, query)
    const left = talks.map(({ conversationId, acknowledged }) => leftBy(conversationId, acknowledged.length))
    const expected = new Map<string, WrittenFile>(writers.flatMap(({ files }) => [...files]))
    for (const { key, content, isIndexed } of left.flatMap(({ files }) => files)) {
      const mark = content.toString().split('\n')[2]!
      expected.set(key, { sha256: createHash('sha256').update(content).digest('hex'), isIndexed, mark })
    }
    const files = await readFiles(query)
    compareFiles(expected, files, report)
    const rows = await compareRows(query, { left, talks, writers }, report)
    await findOrphans(query, report)
    await compareCounters(query, report)
    return {
      differences,
      found: {
        files: files.length,
        bytes: files.reduce((sum, { size }) => sum + Number(size ?? 0), 0),
        indexed: files.filter(({ status }) => status === 'indexing_completed').length,
        failedIndexes: countReasons(files.filter(({ status }) => status === 'indexing_failed')),
        rows,
      },
      sweptObjects,
    }
  })
}

type Report = (kind: Exclude<keyof DataDifferences, 'examples'>, text: string) => void

/** Lets the sweep find that hours are over. @returns the number of objects that it had to remove */
async function sweep(databaseUrl: string, query: Query): Promise<number> {
  const orphans = `select id from file_objects where not exists (select from files where object_id = file_objects.id)`
  const before = (await query(orphans)).length
  await query(
    `update file_objects set created_at = created_at - interval '${laterHours} hours',
       completed_at = completed_at - interval '${laterHours} hours'`,
  )
  const config = readConfig({ DATABASE_URL: databaseUrl, ISOBOT_SECRET: 'unused'.repeat(8), LOG_LEVEL: 'error' })
  await using context = openContext(config, createLogger('chaos', config.logLevel))
  await openFileSweep(context).run()
  return before
}

interface FoundFile {
  key: string
  status: string
  failed_status_reason: string | null
  size: string | null
  sha256: string | null
  actual: string | null
  generations: number
  text: string | null
}

function readFiles(query: Query): Promise<FoundFile[]> {
  return query<FoundFile>(
    `select key, status, failed_status_reason, size, sha256,
       (select encode(sha256(coalesce(string_agg(bytes, ''::bytea order by part), ''::bytea)), 'hex')
        from file_parts where object_id = files.object_id) as actual,
       (select count(distinct generation)::integer from passages where file_id = files.id) as generations,
       (select string_agg(text, ' ' order by position) from passages where file_id = files.id) as text
     from files order by key`,
  )
}

function countReasons(files: FoundFile[]): Map<string, number> {
  const reasons = files.map(({ failed_status_reason: reason }) => reason ?? 'no reason')
  return new Map(reasons.map((reason) => [reason, reasons.filter((other) => other === reason).length]))
}

function compareFiles(expected: Map<string, WrittenFile>, files: FoundFile[], report: Report): void {
  const missing = new Set(expected.keys())
  for (const file of files) {
    const { key, status, actual, sha256 } = file
    const wanted = expected.get(key)
    missing.delete(key)
    if (!wanted) report('otherFiles', `${key} is there, ${status}`)
    else if (actual !== wanted.sha256 || sha256 !== actual)
      report('otherFiles', `${key} has another content, ${status}`)
    else if (!isIndexedAsWanted(file, wanted)) {
      const { generations, failed_status_reason: reason } = file
      report('otherIndexes', `${key} is ${status} (${reason}), with passages of ${generations} generations`)
    }
  }
  for (const key of missing) report('otherFiles', `${key} is missing`)
}

function isIndexedAsWanted(
  { status, generations, text, failed_status_reason: reason }: FoundFile,
  wanted: WrittenFile,
) {
  if (!wanted.isIndexed) return status === 'upload_completed' && generations === 0
  if (status === 'indexing_failed') return reason !== null && reason !== ''
  return status === 'indexing_completed' && generations === 1 && (text ?? '').includes(wanted.mark)
}

/** Whether a row is one that all writers upsert. */
function isShared({ item }: Record<string, unknown>): boolean {
  return sharedItems.includes(String(item))
}

/** @returns the number of rows */
async function compareRows(
  query: Query,
  { left, talks, writers }: { left: ReturnType<typeof leftBy>[]; talks: Talk[]; writers: Writer[] },
  report: Report,
): Promise<number> {
  const rows = await query<{ table: string; id: number; values: Record<string, unknown> }>(
    `select t.name as table, r.id, (
       select jsonb_object_agg(c.key, r.data -> (c.value ->> 'field')) from jsonb_each(t.columns) c
     ) as values
     from table_rows r join bot_tables t on t.id = r.table_id order by r.id`,
  )
  const of = (name: string) => rows.filter(({ table }) => table === name)
  const compare = (name: string, wanted: string[], found: string[]) => {
    const counts = new Map<string, number>()
    for (const row of wanted) counts.set(row, (counts.get(row) ?? 0) + 1)
    for (const row of found) counts.set(row, (counts.get(row) ?? 0) - 1)
    for (const [row, count] of counts) {
      if (count !== 0) report('otherRows', `${name}: ${row} ${count > 0 ? 'is missing' : 'is one too many'}`)
    }
  }
  compare(
    tables.latest.name,
    left.flatMap(({ latest }) => latest.map(({ slot, number }) => `${slot}: ${number}`)),
    of(tables.latest.name).map(({ values }) => `${String(values['slot'])}: ${String(values['number'])}`),
  )
  compare(
    tables.heard.name,
    left.flatMap(({ heard }, index) => heard.map((number) => `${talks[index]!.conversationId}: ${number}`)),
    of(tables.heard.name).map(({ values }) => `${String(values['conversation'])}: ${String(values['number'])}`),
  )
  const stock = of(writerTables.stock.name).map(({ values }) => values)
  compare(
    writerTables.stock.name,
    writers.flatMap((writer) => [...writer.stock].map(([item, number]) => `${item}: ${number}`)),
    stock.filter((row) => !isShared(row)).map(({ item, number }) => `${String(item)}: ${String(number)}`),
  )
  const shared = stock.filter(isShared).map(({ item }) => String(item))
  compare(writerTables.stock.name, [...new Set(shared)], shared)
  compare(
    writerTables.entries.name,
    writers.flatMap(({ name, entries }) => [...entries].map(([id, number]) => `${id} of ${name}: ${number}`)),
    of(writerTables.entries.name).map(
      ({ id, values }) => `${id} of ${String(values['writer'])}: ${String(values['number'])}`,
    ),
  )
  return rows.length
}

async function findOrphans(query: Query, report: Report): Promise<void> {
  const orphans = await query<{ id: string }>(
    `select id from file_objects where not exists (select from files where object_id = file_objects.id)
     union select distinct object_id || ', only parts' from file_parts
     where not exists (select from file_objects where id = object_id)`,
  )
  for (const { id } of orphans) report('orphans', id)
}

async function compareCounters(query: Query, report: Report): Promise<void> {
  const counters = await query<{ name: string; counted: string; actual: string }>(
    `select 'files of ' || usage.bot_id as name, usage.files || ', ' || usage.bytes as counted, (
       select count(*) || ', ' || coalesce(sum(
         case when status = 'upload_failed' then 0 else coalesce(size, declared_size) end), 0)
       from files where files.bot_id = usage.bot_id
     ) as actual from file_usage usage
     union all select 'rows of ' || name, row_count::text, (
       select count(*)::text from table_rows where table_id = bot_tables.id
     ) from bot_tables`,
  )
  for (const { name, counted, actual } of counters) {
    if (counted !== actual) report('otherCounters', `${name}: ${counted} instead of ${actual}`)
  }
}

async function withQuery<Result>(databaseUrl: string, work: (query: Query) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return await work(async <Row extends object>(statement: string, values?: unknown[]) => {
      const { rows } = await client.query<Row>(statement, values)
      return rows
    })
  } finally {
    await client.end()
  }
}

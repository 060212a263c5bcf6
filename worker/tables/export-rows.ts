import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { ApiError } from '#shared/errors.ts'
import { discardObject, writeObject } from '#shared/files/objects.ts'
import { newId } from '#shared/ids.ts'
import { inOrder, rowKilobytes, toTable } from '#shared/models/table.ts'
import type { BotTableRow, TableJobRow } from '#shared/models/tables.ts'
import { findTable } from '#shared/store/bot-tables.ts'
import { completeUpload } from '#shared/store/files.ts'
import { upsertFile } from '#shared/store/runtime-files.ts'
import { advanceTableJob, completeTableJob, StaleRunError } from '#shared/store/table-jobs.ts'
import { readNextRows } from '#shared/store/table-rows.ts'
import { RowReader } from '#shared/tables/row.ts'
import { megabyte } from '#shared/units.ts'
import type { WorkerContext } from '../context.ts'

/** Rows of one statement, and their kilobytes at most: they become text in one turn. */
const [pageRows, pageKilobytes] = [250, 512]

/**
 * Writes the rows of a table to a new file, and completes the job with it in one transaction: an export that is
 * interrupted begins again, and leaves no file.
 *
 * @throws StaleRunError, or ApiError `QuotaExceeded` when the file has no room
 */
export async function exportRows(worker: WorkerContext, job: TableJobRow): Promise<void> {
  const { db, config } = worker
  const { id, bot_id: botId, table_id, format, is_compressed } = job
  const table = await findTable(db, botId, table_id)
  if (!table) throw new StaleRunError()
  const texts = Readable.from(format === 'json' ? jsonTexts(worker, job, table) : csvTexts(worker, job, table))
  const content = is_compressed ? texts.compose(createGzip()) : texts.map((text: string) => Buffer.from(text))
  const limit = config.files.maxFileBytes
  const object = await writeObject(worker, botId, content, { limit, beyond: () => tooLarge(limit) })
  try {
    await db.transaction(async (transaction) => {
      const { row } = await upsertFile(transaction, { botId }, fileOf(id, table, job))
      const { size, sha256 } = object
      const upload = { fileId: row.id, generation: row.generation, objectId: object.id, size, sha256 }
      await completeUpload(transaction, upload, config.files)
      await completeTableJob(transaction, job, row.id)
    })
  } catch (error) {
    await discardObject(worker, object.id, error)
    throw error
  }
}

function fileOf(jobId: string, { id, name }: BotTableRow, { format, is_compressed }: TableJobRow) {
  const type = format === 'json' ? 'application/json' : 'text/csv'
  return {
    id: newId('file'),
    owner: { type: 'bot' as const },
    key: `exports/${name}/${jobId}/${name}.${format}${is_compressed ? '.gz' : ''}`,
    declaredSize: 0,
    contentType: is_compressed ? 'application/gzip' : type,
    tags: { tableId: id },
    metadata: {},
    accessPolicies: [],
    index: false,
    indexing: undefined,
    publicId: '',
    expiresAt: undefined,
  }
}

function tooLarge(limit: number): ApiError {
  return new ApiError(
    'QuotaExceeded',
    `The export has more than ${limit / megabyte} MB, the maximum of a file: have the operator raise FILE_MB`,
  )
}

type Row = Record<string, unknown>

async function* pages({ db }: WorkerContext, job: TableJobRow, table: BotTableRow): AsyncGenerator<Row[]> {
  const reader = new RowReader(table.columns)
  const limit = Math.max(1, Math.min(pageRows, Math.floor(pageKilobytes / (table.factor * rowKilobytes))))
  let [last, count] = [0, 0]
  for (;;) {
    const rows = await readNextRows(db, table.id, last, limit)
    if (rows.length === 0) return
    yield rows.map((row) => {
      const { computed: _, stale: _stale, ...values } = reader.toRow(row)
      return values
    })
    last = rows.at(-1)!.id
    count += rows.length
    await advanceTableJob(db, job, { progress: Math.floor((100 * count) / Math.max(count, table.row_count)) })
  }
}

async function* jsonTexts(worker: WorkerContext, job: TableJobRow, table: BotTableRow): AsyncGenerator<string> {
  yield `{"schema":${JSON.stringify(toTable(table).schema)},"rows":[`
  let separator = '\n'
  for await (const rows of pages(worker, job, table)) {
    yield separator + rows.map((row) => JSON.stringify(row)).join(',\n')
    separator = ',\n'
  }
  yield '\n]}\n'
}

async function* csvTexts(worker: WorkerContext, job: TableJobRow, table: BotTableRow): AsyncGenerator<string> {
  // A worker that exports nothing need not load it.
  const { stringify } = await import('csv-stringify/sync')
  const columns = ['id', ...inOrder(table.columns).map(([name]) => name), 'createdAt', 'updatedAt']
  const cast = { string: (text: string) => (text === '' ? { value: text, quoted_empty: true } : text) }
  const textOf = (records: unknown[][]) => stringify(records, { cast, record_delimiter: 'windows' })
  yield textOf([columns])
  for await (const rows of pages(worker, job, table)) {
    yield textOf(rows.map((row) => columns.map((name) => toCell(row[name]))))
  }
}

/** The text of a value; none where there is no value. The empty text is quoted, to tell it from that. */
function toCell(value: unknown): string | null {
  if (value === null || value === undefined || typeof value === 'string') return value ?? null
  return JSON.stringify(value)
}

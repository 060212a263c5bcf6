import type { Column, Columns } from '#shared/models/column.ts'
import type { TableJobRow } from '#shared/models/tables.ts'
import { readObject } from '#shared/files/objects.ts'
import { parseBody } from '#shared/json/parse-body.ts'
import { wakeWorker } from '#shared/signals/after-commit.ts'
import { findTable } from '#shared/store/bot-tables.ts'
import { findContent } from '#shared/store/file-contents.ts'
import { advanceTableJob, lockTableJob, StaleRunError } from '#shared/store/table-jobs.ts'
import { assertQuota } from '#shared/tables/bot-table.ts'
import { RowWriter } from '#shared/tables/write-rows.ts'
import type { WorkerContext } from '../context.ts'
import { readRecords, type FileRecord } from './records.ts'
import { UnreadableFileError } from './unreadable-file.ts'

/** Records of one transaction, and the characters after which it takes no more. */
const [batchRecords, batchCharacters] = [1000, 1024 * 1024]
/** A run ends after it has written for this time, and the next one begins where it has ended, so that bots take turns. */
const runMilliseconds = 10_000

/**
 * Writes rows from the records of a file, from the one after those that earlier runs have stored. A batch and the
 * number of its records are one transaction, so that no record is stored twice. In a table with a key column a record
 * changes the row of its key.
 *
 * @returns whether the end of the file is reached
 * @throws UnreadableFileError, StaleRunError, or ApiError `QuotaExceeded` for the rows that have no room
 */
export async function importRows(worker: WorkerContext, job: TableJobRow): Promise<boolean> {
  const content = await findContent(worker.db, job.input_file_id!, job.input_generation!)
  if (!content) throw new UnreadableFileError('The file was deleted, or upserted again, before its import has ended')
  const { object } = content
  let read = 0
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const part of readObject(worker, object) as AsyncIterable<Uint8Array>) {
      read += part.length
      yield part
    }
  }
  let end = Infinity
  let { done } = job
  let [index, batch, characters] = [0, [] as FileRecord[], 0]
  const write = async () => {
    await writeBatch(worker, job, { records: batch, done, progress: Math.floor((100 * read) / object.size) })
    done += batch.length
    batch = []
    characters = 0
  }
  for await (const record of readRecords(counted())) {
    if (index++ < done) continue
    // Passing over the records of earlier runs takes none of the time: each run would write less than the one before.
    end = Math.min(end, performance.now() + runMilliseconds)
    batch.push(record)
    characters += record.characters
    if (batch.length < batchRecords && characters < batchCharacters) continue
    await write()
    if (performance.now() > end) return false
  }
  if (batch.length > 0) await write()
  return true
}

interface Batch {
  records: FileRecord[]
  /** The number of records before it. */
  done: number
  progress: number
}

async function writeBatch(worker: WorkerContext, job: TableJobRow, { records, done, progress }: Batch): Promise<void> {
  const hasStale = await worker.db.transaction(async (transaction) => {
    // In the order in which deleting a table locks both.
    const table = await findTable(transaction, job.bot_id, job.table_id, { isLocked: true })
    if (!table) throw new StaleRunError()
    await lockTableJob(transaction, job)
    if (done === 0) assertCommonColumn(records[0]!, table.columns)
    const numbered = records.map((record, index) => ({ record, path: `records.${done + index + 1}` }))
    const checked = numbered.map(({ record, path }) => ({ path, record: withoutRounding(record, table.columns) }))
    const problems = checked.flatMap(({ record, path }) => ('problem' in record ? [path + record.problem] : []))
    const given = checked.flatMap(({ record, path }) =>
      'problem' in record ? [] : [{ path, row: toRow(record, table.columns) }],
    )
    const writer = new RowWriter(transaction, table, { pathOf: (index) => given[index]!.path, keepsRows: false })
    const rows = given.map(({ row }) => row)
    const { warnings = [], errors = [] } =
      table.key_column === null ? await writer.create(rows) : await writer.upsertBy(table.key_column, rows, true)
    if (writer.insertedCount > 0) {
      await assertQuota({ ...worker, caller: { kind: 'bot', botId: job.bot_id } }, transaction)
    }
    const reported = [...warnings, ...problems, ...errors]
    await advanceTableJob(transaction, job, { progress, records: records.length, errors: reported })
    return writer.hasStale && table.is_compute_enabled
  })
  if (hasStale) await wakeWorker(worker, 'recompute-rows', job.table_id, job.bot_id)
}

/** A CSV of which no column is one of the table has another separator, or belongs to another table: its rows would be empty. */
function assertCommonColumn(record: FileRecord, columns: Columns): void {
  if (!('cells' in record) || record.cells.some(([name]) => Object.hasOwn(columns, name))) return
  const names = record.cells.map(([name]) => `'${name}'`).join(', ')
  throw new UnreadableFileError(`No column of the CSV is a column of the table: ${names.slice(0, 300)}`)
}

/** The record, or the problem of a whole number that would be stored as another one, as long numbers of accounts would. */
function withoutRounding(
  record: FileRecord,
  columns: Columns,
): Exclude<FileRecord, { problem: string }> | { problem: string } {
  if ('problem' in record) return { problem: ` ${record.problem}` }
  if (!('cells' in record)) return record
  for (const [name, cell] of record.cells) {
    if (cell === null || columns[name]?.type !== 'number' || !/^\s*[+-]?\d{16,}\s*$/.test(cell)) continue
    if (Number.isFinite(Number(cell)) && BigInt(Number(cell)) !== BigInt(cell.trim().replace('+', '')))
      return { problem: `.${name} has more digits than a number keeps: the column needs the type string` }
  }
  return record
}

function toRow(record: Exclude<FileRecord, { problem: string }>, columns: Columns): Record<string, unknown> {
  if ('values' in record) return record.values
  const values = record.cells.map(([name, cell]) => [name, cell === null ? null : toValue(columns[name], cell)])
  return Object.fromEntries(values) as Record<string, unknown>
}

/** The value of a cell by the type of its column. A cell that has another form stays a text, which the row's check names. */
function toValue(column: Column | undefined, cell: string): unknown {
  switch (column?.type) {
    case 'number':
      return cell.trim() === '' || Number.isNaN(Number(cell)) ? cell : Number(cell)
    case 'boolean':
      return { true: true, false: false }[cell.trim().toLowerCase()] ?? cell
    case 'object':
    case 'array':
      return parsed(cell)
    default:
      return cell
  }
}

function parsed(cell: string): unknown {
  try {
    return parseBody(cell)
  } catch {
    return cell
  }
}

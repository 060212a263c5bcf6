import type { TableJobRow } from '../models/tables.ts'
import { storableText } from '../models/storable.ts'
import { query, type Database } from './database.ts'

/** Imports and exports of tables, whose rows say what is to be done. */

/** The fields of a new job. */
export type NewTableJob = Pick<TableJobRow, 'id' | 'bot_id' | 'table_id' | 'type'> &
  Partial<Pick<TableJobRow, 'format' | 'is_compressed' | 'input_file_id' | 'input_generation'>>

/** Jobs of a table that are kept. */
const maxKept = 100

/** Inserts a job, and deletes the oldest ended ones of its table. */
export async function insertTableJob(transaction: Database, job: NewTableJob): Promise<TableJobRow> {
  const { format = null, is_compressed = null, input_file_id = null, input_generation = null } = job
  const [row] = await query<TableJobRow>(
    transaction,
    `insert into table_jobs (id, bot_id, table_id, type, format, is_compressed, input_file_id, input_generation)
     values (:id, :bot_id, :table_id, :type, :format, :is_compressed, :input_file_id, :input_generation)
     returning *`,
    { ...job, format, is_compressed, input_file_id, input_generation },
  )
  await query(
    transaction,
    `delete from table_jobs where table_id = :table_id and status in ('completed', 'failed') and id in (
       select id from table_jobs where table_id = :table_id order by id desc offset ${maxKept}
     )`,
    { table_id: job.table_id },
  )
  return row!
}

export async function countUnfinishedJobs(db: Database, tableId: string): Promise<number> {
  const [row] = await query<{ count: number }>(
    db,
    `select count(*)::integer as count from table_jobs
     where table_id = :tableId and status not in ('completed', 'failed')`,
    { tableId },
  )
  return row!.count
}

/** The jobs of a table, the newest first. */
export function listTableJobs(db: Database, tableId: string, limit: number): Promise<TableJobRow[]> {
  return query(db, 'select * from table_jobs where table_id = :tableId order by id desc limit :limit', {
    tableId,
    limit,
  })
}

/** Begins a run of a job. Undefined when it has ended. */
export async function claimTableJob(db: Database, id: string): Promise<TableJobRow | undefined> {
  const [row] = await query<TableJobRow>(
    db,
    `update table_jobs set status = 'in_progress', run = run + 1, attempts = attempts + 1, updated_at = now()
     where id = :id and status not in ('completed', 'failed') returning *`,
    { id },
  )
  return row
}

/** A run of a job. */
export type JobRun = Pick<TableJobRow, 'id' | 'run'>

/** A newer run of the job has begun, or the job is gone: this one may write nothing. */
export class StaleRunError extends Error {
  override name = 'StaleRunError'
}

const isNewestRun = `id = :id and run = :run and status not in ('completed', 'failed')`

/**
 * Locks a job until the transaction ends.
 * @throws StaleRunError
 */
export async function lockTableJob(transaction: Database, { id, run }: JobRun): Promise<void> {
  const rows = await query(transaction, `select id from table_jobs where ${isNewestRun} for update`, { id, run })
  if (rows.length === 0) throw new StaleRunError()
}

/** The result of a batch of a run. */
export interface JobProgress {
  /** In percent. */
  progress: number
  /** Records that were read. */
  records?: number
  errors?: string[]
}

/** Errors of single records that a job keeps. */
const maxErrors = 100

/**
 * Stores how far a run has come.
 * @throws StaleRunError
 */
export async function advanceTableJob(
  db: Database,
  { id, run }: JobRun,
  { progress, records = 0, errors = [] }: JobProgress,
): Promise<void> {
  const rows = await query(
    db,
    `update table_jobs set progress = greatest(progress, least(:progress::integer, 99)), done = done + :records,
       errors = (errors || array(select unnest(:errors::text[]) except select unnest(errors)))[1:${maxErrors}],
       attempts = 0, updated_at = now()
     where ${isNewestRun} returning id`,
    { id, run, progress, records, errors: errors.slice(0, maxErrors) },
  )
  if (rows.length === 0) throw new StaleRunError()
}

/** Takes back an attempt that failed through no fault of the job. */
export async function releaseTableJob(db: Database, { id, run }: JobRun): Promise<void> {
  await query(db, `update table_jobs set attempts = greatest(0, attempts - 1) where ${isNewestRun}`, { id, run })
}

/**
 * Ends a job with success.
 *
 * @param outputFileId of an export
 * @throws StaleRunError
 */
export async function completeTableJob(
  db: Database,
  { id, run }: JobRun,
  outputFileId: string | null = null,
): Promise<void> {
  const rows = await query(
    db,
    `update table_jobs set status = 'completed', progress = 100, output_file_id = :outputFileId, updated_at = now()
     where ${isNewestRun} returning id`,
    { id, run, outputFileId },
  )
  if (rows.length === 0) throw new StaleRunError()
}

/** Ends a job without success. @param reason for the person who asked for it */
export async function failTableJob(db: Database, { id, run }: JobRun, reason: string): Promise<void> {
  await query(
    db,
    `update table_jobs set status = 'failed', failed_status_reason = :reason, updated_at = now() where ${isNewestRun}`,
    { id, run, reason: storableText(reason.slice(0, 1000)) },
  )
}

/** Jobs that have made no progress for so long that they may be lost. */
export function overdueTableJobs(
  db: Database,
  waitedMilliseconds: number,
  limit: number,
): Promise<Pick<TableJobRow, 'id' | 'bot_id'>[]> {
  return query(
    db,
    `select id, bot_id from table_jobs where status not in ('completed', 'failed')
       and updated_at <= now() - :waitedMilliseconds * interval '1 millisecond'
     order by updated_at limit :limit`,
    { waitedMilliseconds, limit },
  )
}

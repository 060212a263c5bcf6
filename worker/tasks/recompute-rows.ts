import { isDeepStrictEqual } from 'node:util'
import { isObject } from '#shared/code/json-schema/is-object.ts'
import { ApiError } from '#shared/errors.ts'
import { storeRecomputingCall } from '#shared/messaging/call-action.ts'
import type { ComputedState } from '#shared/models/column.ts'
import { rowKilobytes, toTable, type TableRow } from '#shared/models/table.ts'
import type { BotTableRow, EventRow, TableRowRow } from '#shared/models/tables.ts'
import { publishOutcome, wakeWorker } from '#shared/signals/after-commit.ts'
import { clearRecomputeDue, findTable, setRecomputeEvent } from '#shared/store/bot-tables.ts'
import type { Database } from '#shared/store/database.ts'
import { findEvent } from '#shared/store/events.ts'
import { readRows, readStaleRows, replaceRows, type RowToStore } from '#shared/store/table-rows.ts'
import { RowChecker } from '#shared/tables/check-row.ts'
import { computedColumnsOf, type ComputedColumn } from '#shared/tables/computed-columns.ts'
import { RowReader } from '#shared/tables/row.ts'
import type { WorkerContext } from '../context.ts'

/** The action of a bot that computes values. The public development kit declares it. */
const recomputingAction = 'tablesRecomputeRows'

/** Rows of one call of the action, and the kilobytes that they may have. */
const [batchRows, batchKilobytes] = [20, 256]
const maxErrorCharacters = 1000

/** A row as the action gets it, and the names of its columns to compute. */
interface Request {
  row: TableRow
  columnsToRecompute: string[]
}

/** The outcomes of a call. */
interface Computed {
  /** By row, by the name of the column. */
  outcomes: Map<number, Record<string, unknown>>
  /** Of all values without an outcome; undefined when another call follows for them. */
  problem: string | undefined
}

/**
 * Computes values of a table that are out of date, by an action of its bot, which runs as an event: here its outcomes
 * are stored, and the next one is begun. When the event ends, it wakes a worker for the table.
 */
export async function recomputeRows(
  worker: WorkerContext,
  { mailbox: tableId, botId }: { mailbox: string; botId: string },
): Promise<void> {
  for (;;) {
    const step = await worker.db.transaction((transaction) => takeStep(worker, transaction, { botId, tableId }))
    if (step === 'ended') return
    if (step === 'stored') await publishOutcome(worker, tableId)
    else return wakeWorker(worker, 'event', step.eventId, botId)
  }
}

/**
 * @returns `stored` when values were stored and others may wait; the event of the action when one was begun; `ended`
 *   when nothing waits, or an event is under way
 */
async function takeStep(
  worker: WorkerContext,
  db: Database,
  { botId, tableId }: { botId: string; tableId: string },
): Promise<'stored' | 'ended' | { eventId: string }> {
  // Writers hold this lock too: rows that are read from now on are all.
  const table = await findTable(db, botId, tableId, { isLocked: true })
  if (!table) return 'ended'
  if (table.recompute_event_id !== null) {
    const event = await findEvent(db, botId, table.recompute_event_id)
    if (event?.status === 'pending') return 'ended'
    if (event) await storeOutcomes(db, table, requestsOf(event), readResult(event))
    await setRecomputeEvent(db, tableId, null)
    return 'stored'
  }
  const rows = await nextRows(db, table)
  if (rows.length === 0) {
    await clearRecomputeDue(db, tableId)
    return 'ended'
  }
  return begin(worker, db, table, rows)
}

async function begin(worker: WorkerContext, db: Database, table: BotTableRow, rows: TableRowRow[]) {
  const { id: tableId, bot_id: botId } = table
  const reader = new RowReader(table.columns)
  const all = rows.map((row) => ({ row: reader.toRow(row), columns: columnsOf(table, row) }))
  const requests = all.flatMap(({ row, columns }): Request[] => {
    const columnsToRecompute = columns.flatMap(({ name, action }) => (action === 'code' ? [name] : []))
    return columnsToRecompute.length === 0 ? [] : [{ row, columnsToRecompute }]
  })
  const withoutCall = async (problem: string) => {
    await storeOutcomes(db, table, all, { outcomes: new Map(), problem })
    return 'stored' as const
  }
  if (requests.length === 0) return withoutCall('')
  const input = { tableId, botId, schema: toTable(table).schema, requests }
  try {
    const eventId = await storeRecomputingCall(worker, db, { botId, tableId, type: recomputingAction, input })
    await setRecomputeEvent(db, tableId, eventId)
    return { eventId }
  } catch (error) {
    if (error instanceof ApiError && error.type === 'ReferenceNotFound') {
      return withoutCall(`The bot has no action '${recomputingAction}', which computes values`)
    }
    // Too many events of the bot wait: the sweep looks again.
    if (error instanceof ApiError && error.type === 'RateLimited') return 'ended' as const
    throw error
  }
}

function enabledColumns({ columns }: BotTableRow): ComputedColumn[] {
  return computedColumnsOf(columns).filter(({ isEnabled }) => isEnabled)
}

function nextRows(db: Database, table: BotTableRow): Promise<TableRowRow[]> | [] {
  if (!table.is_compute_enabled) return []
  const fields = enabledColumns(table).map(({ field }) => field)
  const limit = Math.max(1, Math.min(batchRows, Math.floor(batchKilobytes / (table.factor * rowKilobytes))))
  return fields.length === 0 ? [] : readStaleRows(db, table.id, fields, limit)
}

function columnsOf(table: BotTableRow, { stale }: TableRowRow): ComputedColumn[] {
  return enabledColumns(table).filter(({ field }) => stale.includes(field))
}

function requestsOf({ payload }: EventRow): Request[] {
  return (payload as { input: { requests: Request[] } }).input.requests
}

function readResult(event: EventRow): Computed {
  if (event.status !== 'processed') {
    return { outcomes: new Map(), problem: event.failure_reason ?? 'The action failed' }
  }
  const { rows = [], isFinished = true } = isObject(event.result) ? event.result : {}
  const given = (Array.isArray(rows) ? (rows as unknown[]) : []).filter(isObject)
  const outcomes = new Map(given.map((row) => [Number(row['id']), row]))
  const hasOutcome = requestsOf(event).some(({ row, columnsToRecompute }) =>
    columnsToRecompute.some((name) => Object.hasOwn(outcomes.get(row.id) ?? {}, name)),
  )
  // After a call without any of the outcomes, another one would give none either.
  const isLast = isFinished !== false || !hasOutcome
  return { outcomes, problem: isLast ? `The action '${recomputingAction}' gave no value` : undefined }
}

/** Stores outcomes in those rows that have not changed since they were read. */
async function storeOutcomes(
  db: Database,
  table: BotTableRow,
  requests: Pick<Request, 'row'>[],
  { outcomes, problem }: Computed,
): Promise<void> {
  const asked = new Map(requests.map(({ row }) => [row.id, row]))
  const rows = await readRows(db, table.id, [...asked.keys()])
  const reader = new RowReader(table.columns)
  const checker = new RowChecker(table)
  const changes = rows
    .filter((row) => isDeepStrictEqual(reader.toRow(row), asked.get(row.id)))
    .map((row) => toChange(table, checker, row, outcomes.get(row.id) ?? {}, problem))
  const keyField = table.key_column === null ? null : table.columns[table.key_column]!.field
  if (changes.length > 0) await replaceRows(db, table.id, keyField, changes)
}

function toChange(
  table: BotTableRow,
  checker: RowChecker,
  row: TableRowRow,
  outcomes: Record<string, unknown>,
  problem: string | undefined,
): RowToStore {
  const updatedAt = new Date().toISOString()
  const states: [column: ComputedColumn, state: ComputedState][] = []
  let { data, text } = { data: row.data, text: JSON.stringify(row.data) }
  for (const column of columnsOf(table, row)) {
    const outcome = Object.hasOwn(outcomes, column.name) ? outcomes[column.name] : undefined
    const fail = (error: string) =>
      states.push([column, { status: 'error', error: error.slice(0, maxErrorCharacters).toWellFormed(), updatedAt }])
    if (column.action !== 'code') {
      fail(`Columns that are computed by '${column.action}' are not supported: let the bot compute this one by code`)
    } else if (isObject(outcome) && outcome['status'] === 'computed') {
      const checked = checker.check('', { [column.name]: outcome['value'] }, data)
      if ('problem' in checked) fail(checked.problem.slice(1))
      else {
        ;({ data, text } = checked)
        states.push([column, { status: 'computed', updatedAt }])
      }
    } else if (outcome !== undefined) fail(errorOf(outcome))
    else if (problem !== undefined) fail(problem)
  }
  const settled = new Set(states.map(([{ field }]) => field))
  const computed = { ...row.computed, ...Object.fromEntries(states.map(([{ field }, state]) => [field, state])) }
  return { id: row.id, data, text, states: { stale: row.stale.filter((field) => !settled.has(field)), computed } }
}

function errorOf(outcome: unknown): string {
  const error = isObject(outcome) ? outcome['error'] : undefined
  return typeof error === 'string' ? error : 'The action gave neither a value nor an error'
}

import { ApiError } from '../errors.ts'
import type { TableRow } from '../models/table.ts'
import { whileLent, type BotContext } from '../rpc/caller.ts'
import { wakeWorker } from '../signals/after-commit.ts'
import { awaitOutcome } from '../signals/await-outcome.ts'
import { WaitingRequests } from '../signals/waiting-requests.ts'
import { readRows } from '../store/table-rows.ts'
import { existingTable } from './bot-table.ts'
import { computedColumnsOf } from './computed-columns.ts'
import { RowReader } from './row.ts'

/** The rows of a call whose computed values can be awaited. */
export const maxAwaited = 10
const timeoutMilliseconds = 30_000

/** Upper bound of the calls for one bot's tables that wait in one process: each holds a request. */
const waiting = new WaitingRequests(100)

/**
 * Has a worker compute values of rows, and waits for that, at most 30 s; not at all where too many calls of the bot wait.
 *
 * @returns the rows by id, without those that were deleted; values that are out of date still are named in `stale`
 */
export async function computeAndWait(
  context: BotContext,
  tableId: string,
  ids: number[],
): Promise<Map<number, TableRow>> {
  const read = async () => {
    const table = await existingTable(context, tableId)
    const enabled = computedColumnsOf(table.columns).flatMap(({ field, isEnabled }) => (isEnabled ? [field] : []))
    const rows = await readRows(context.db, tableId, ids)
    const isComputed = !rows.some(({ stale }) => stale.some((field) => enabled.includes(field)))
    const reader = new RowReader(table.columns)
    return { isComputed, rows: new Map(rows.map((row) => [row.id, reader.toRow(row)])) }
  }
  const { botId, execution } = context.caller
  const wake = () => wakeWorker(context, 'recompute-rows', tableId, botId)
  const wait = () =>
    awaitOutcome(context.signals, tableId, {
      ask: wake,
      poll: async () => {
        const { isComputed, rows } = await read()
        return isComputed ? rows : undefined
      },
      callerGone: context.callerGone?.(),
      timeoutMilliseconds,
      timeoutMessage: 'The values were not computed in time',
    })
  try {
    // Calls of runs are bounded by the slots of their worker.
    return await (execution
      ? whileLent(context, 'actions', wait)
      : waiting.run(context, { botId }, 'calls for computed values of this bot', wait))
  } catch (error) {
    if (!(error instanceof ApiError) || !['OperationTimeout', 'RateLimited'].includes(error.type)) throw error
    if (error.type === 'RateLimited') await wake()
    const { rows } = await read()
    return rows
  }
}

import type { FlowPosition } from '#sandbox/protocol/flow-contract.ts'
import { wakeWorker } from '#shared/signals/after-commit.ts'
import type { Context } from '#shared/context.ts'
import { announceMessage, storeMessage, type ReadyMessage } from '#shared/messaging/create-message.ts'
import { foreignKeyViolation, isOutage, postgresCode } from '#shared/errors.ts'
import { newId } from '#shared/ids.ts'
import { flowDue, messageScheduled, stateExpired } from '#shared/models/event.ts'
import { flowStateName, toState } from '#shared/models/state.ts'
import { nextOccurrence } from '#shared/recurrence.ts'
import { transact, type Database } from '#shared/store/database.ts'
import type { Due } from '#shared/store/scheduled-events.ts'
import { announceEnd } from '#shared/messaging/handovers.ts'
import { dueHandovers } from '#shared/store/find-handovers.ts'
import { endHandover } from '#shared/store/handovers.ts'
import { claimDueWebhooks } from '#shared/store/inbox-webhooks.ts'
import { deleteSilently, expiredStates, expireState } from '#shared/store/expired-states.ts'
import { dueRecurringEvents, fireRecurringEvent, type DueRecurringEvent } from '#shared/store/recurring-events.ts'
import { dueEvents, endScheduledEvent, lockScheduledEvent, putIntoMailbox } from '#shared/store/scheduled-events.ts'
import type { EventRow, HandoverRow, StateRow, WorkflowRow } from '#shared/models/tables.ts'
import { continuableWorkflows, dueWorkflows } from '#shared/store/workflows.ts'
import { continueWorkflow, timeOutWorkflow } from '#shared/messaging/workflow-updates.ts'
import { isRefusal } from '#shared/queue/backlog-limit.ts'
import { leaseMilliseconds } from '../tasks/call-inbox-webhook.ts'
import { repeatedly } from './repeatedly.ts'

/**
 * Runs due work: scheduled events and messages, recurring events, expired states, workflows that are overdue or go on,
 * overdue handovers, and news for the webhooks of inboxes. Rows hold the times, and every worker looks for due rows. Two
 * workers may find the same row; each acts in one statement or transaction that takes effect only while the row is still due,
 * so it takes effect once.
 *
 * A row that becomes an event counts toward the bot's backlog limit. At the limit it stays due until a later look:
 * nothing is lost, and the rows of other bots come first. So it is with a bot that has more due rows than one look takes.
 */

/** Interval of looks, which bounds how late due work starts. */
const tickMilliseconds = 1000

/** Rows of each kind in one query. */
const batchSize = 500

/** Due rows of one kind that a look takes of each bot. Those of the other kinds and bots come before the remaining ones. */
const maxRowsOfBot = 50

/**
 * Looks for due work every second, and again at once while a look leaves some.
 *
 * @returns stops the scheduler, and waits for a look in flight
 */
export function startScheduler(context: Context): () => Promise<void> {
  const stopping = new AbortController()
  const stop = repeatedly(tickMilliseconds, async () => {
    while (!stopping.signal.aborted && (await look(context))) continue
  })
  return () => {
    stopping.abort()
    return stop()
  }
}

/**
 * Runs the work that is due now. Failures are logged, and a later look finds their rows again.
 *
 * @returns whether it has left rows to the next look
 */
export async function look(context: Context): Promise<boolean> {
  const { db, dependencies } = context
  if (!dependencies.database.isUp()) return false
  outagesOfLooks.delete(context)
  await attempt(context, 'sessions', () => deleteSilently(db, batchSize))
  const isLeft = [
    await each(context, 'scheduled events', dueEvents, goOff),
    await each(context, 'recurring events', dueRecurringEvents, fire),
    await each(context, 'expired states', expiredStates, expire),
    await each(context, 'overdue workflows', dueWorkflows, timeOut),
    await each(context, 'workflows in progress', continuableWorkflows, goOn),
    await each(context, 'overdue handovers', dueHandovers, expireHandover),
  ]
  await attempt(context, 'webhooks of inboxes', () => wakeForNews(context))
  return isLeft.includes(true)
}

/** @returns whether rows may be left that the next look can run: no rows of full bots, and none after rows that all failed */
async function each<Row extends { bot_id: string }>(
  context: Context,
  what: string,
  find: (db: Database, which: Due) => Promise<Row[]>,
  act: (context: Context, row: Row) => Promise<void>,
): Promise<boolean> {
  const rowsOfBots = new Map<string, number>()
  /** Bots at their backlog limit, and those of which this look takes no more rows: theirs must not hide the rows of others. */
  const leftOut = new Set<string>()
  let hasProgress = false
  let isLeft = false
  for (;;) {
    const known = leftOut.size
    const which = { limit: batchSize, exceptBots: [...leftOut] }
    const rows = (await attempt(context, what, () => find(context.db, which))) ?? []
    for (const row of rows) {
      const { bot_id: botId } = row
      if (leftOut.has(botId)) continue
      const outcome = await attempt(context, what, () => actUnlessFull(context, row, act))
      hasProgress ||= outcome === 'done'
      const count = (rowsOfBots.get(botId) ?? 0) + 1
      rowsOfBots.set(botId, count)
      if (outcome === 'full' || count === maxRowsOfBot) leftOut.add(botId)
      isLeft ||= outcome === 'done' && count === maxRowsOfBot
    }
    if (rows.length < batchSize) return isLeft
    if (leftOut.size === known) return hasProgress
  }
}

/** Acts on a row; `full` when its bot is at the backlog limit. */
async function actUnlessFull<Row>(
  context: Context,
  row: Row,
  act: (context: Context, row: Row) => Promise<void>,
): Promise<'done' | 'full'> {
  try {
    await act(context, row)
    return 'done'
  } catch (error) {
    if (!isRefusal(error)) throw error
    return 'full'
  }
}

/** Looks that have logged an outage, which the further kinds of rows meet as well. */
const outagesOfLooks = new WeakSet<Context>()

async function attempt<Result>(
  context: Context,
  what: string,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  const { log, dependencies } = context
  // The further kinds of rows would each wait for a connection in vain.
  if (!dependencies.database.isUp()) return undefined
  try {
    return await work()
  } catch (error) {
    const level = isOutage(error) && outagesOfLooks.has(context) ? 'debug' : 'error'
    if (isOutage(error)) outagesOfLooks.add(context)
    log[level]({ err: error, what }, 'Running due work failed; retrying')
    return undefined
  }
}

async function goOff(context: Context, event: EventRow): Promise<void> {
  if (event.type === messageScheduled) return say(context, event)
  const { db, waiting } = context
  const isIn = await waiting.admitDue(db, event.bot_id, () => putIntoMailbox(db, event))
  if (isIn) await wakeWorker(context, 'event', event.mailbox, event.bot_id)
}

/** Stores and publishes a scheduled message. */
async function say(context: Context, event: EventRow): Promise<void> {
  const { direction } = event.payload as unknown as ReadyMessage
  const { db, waiting } = context
  const store = () =>
    db.transaction(async (transaction) => {
      const present = await lockScheduledEvent(transaction, event)
      if (!present) return undefined
      const stored = await storeInSavepoint(transaction, present.payload as unknown as ReadyMessage)
      await endScheduledEvent(transaction, event.id, stored ? { status: 'processed' } : gone)
      return stored
    })
  // Only incoming messages become events of the bot, so only they count toward its backlog limit.
  const message = await (direction === 'incoming' ? waiting.admitDue(db, event.bot_id, store) : store())
  if (message) await announceMessage({ ...context, caller: { kind: 'bot', botId: event.bot_id } }, message)
}

const gone = {
  status: 'failed',
  failureReason: 'The author of the message was deleted before the scheduled time',
} as const

/** Undefined when a row that the message refers to was deleted. */
async function storeInSavepoint(db: Database, ready: ReadyMessage): ReturnType<typeof storeMessage> {
  try {
    return await db.transaction((savepoint) => storeMessage(savepoint, ready))
  } catch (error) {
    if (postgresCode(error) === foreignKeyViolation) return undefined
    throw error
  }
}

/** Fires once, however many occurrences were missed, and then at the next occurrence from now on. */
async function fire(context: Context, due: DueRecurringEvent): Promise<void> {
  const { db, waiting } = context
  const mailbox = await waiting.admitDue(db, due.bot_id, () =>
    fireRecurringEvent(db, due, newId('evt'), nextOccurrence(due.cron, due.now)),
  )
  if (mailbox) await wakeWorker(context, 'event', mailbox, due.bot_id)
}

async function expire(context: Context, row: StateRow): Promise<void> {
  const event = row.name === flowStateName ? waitOver(row) : { type: stateExpired, payload: { state: toState(row) } }
  const { db, waiting } = context
  const mailbox = await waiting.admitDue(db, row.bot_id, () => expireState(db, row, { ...event, id: newId('evt') }))
  if (mailbox) await wakeWorker(context, 'event', mailbox, row.bot_id)
}

/** The event that continues a flow whose wait is over. */
function waitOver({ payload }: StateRow) {
  const { event, userId } = (payload['position'] ?? {}) as Partial<FlowPosition>
  return { type: flowDue, payload: { waitOf: event }, ...(userId !== undefined && { userId }) }
}

function timeOut(context: Context, row: WorkflowRow): Promise<void> {
  return changeWorkflow(context, row, timeOutWorkflow)
}

function goOn(context: Context, row: WorkflowRow): Promise<void> {
  return changeWorkflow(context, row, continueWorkflow)
}

/** @param change returns the mailboxes to wake */
async function changeWorkflow(
  context: Context,
  { bot_id: botId, id }: WorkflowRow,
  change: typeof timeOutWorkflow,
): Promise<void> {
  const { db, waiting } = context
  const mailboxes = await waiting.admitDue(db, botId, () =>
    db.transaction((transaction) => change(transaction, botId, id)),
  )
  for (const mailbox of mailboxes) await wakeWorker(context, 'event', mailbox, botId)
}

/** News are rows that the transactions of their changes write; no request wakes a worker for them. */
async function wakeForNews({ db, queue }: Context): Promise<void> {
  for (const id of await claimDueWebhooks(db, leaseMilliseconds)) await queue.wakeOverdue('inbox-webhook', id, id)
}

async function expireHandover(context: Context, { bot_id: botId, id }: HandoverRow): Promise<void> {
  const end = await transact(context.db, (transaction) => endHandover(transaction, { botId, id, status: 'expired' }))
  if (end) await announceEnd(context, end)
}

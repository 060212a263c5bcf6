import { wakeWorker } from '#shared/after-commit.ts'
import type { Context } from '#shared/context.ts'
import { announceMessage, storeMessage, type ReadyMessage } from '#shared/create-message.ts'
import { foreignKeyViolation, postgresCode } from '#shared/errors.ts'
import { newId } from '#shared/ids.ts'
import { messageScheduled, stateExpired } from '#shared/models/event.ts'
import { toState } from '#shared/models/state.ts'
import { nextOccurrence } from '#shared/recurrence.ts'
import type { Database } from '#shared/store/database.ts'
import { deleteSilently, expiredStates, expireState } from '#shared/store/expired-states.ts'
import { dueRecurringEvents, fireRecurringEvent } from '#shared/store/recurring-events.ts'
import { dueEvents, endScheduledEvent, lockScheduledEvent, putIntoMailbox } from '#shared/store/scheduled-events.ts'
import type { EventRow, RecurringEventRow, StateRow, WorkflowRow } from '#shared/store/tables.ts'
import { dueWorkflows } from '#shared/store/workflows.ts'
import { timeOutWorkflow } from '#shared/workflow-updates.ts'
import { repeatedly } from './repeatedly.ts'

/**
 * What happens because its time has come: scheduled events and messages, recurring events, states that expire, workflows
 * that run out of time. Rows say when; every worker looks for those that are due. Two may find the same, and each does
 * with it what holds only while it is still due, in one statement or transaction: so it happens once.
 */

/** How late something may be by this. */
const tickMilliseconds = 1000

/** Rows of each kind in one look. Those that remain have waited longest in the next. */
const atOnce = 500

/**
 * Looks every second for what is due.
 *
 * @returns stops it, and waits for a look that is under way
 */
export function startDue(context: Context): () => Promise<void> {
  return repeatedly(tickMilliseconds, () => look(context))
}

/** Does what is due now, as far as one look goes. What fails is logged, and found again by the next look. */
export async function look(context: Context): Promise<void> {
  const { db, dependencies } = context
  if (!dependencies.database.isHere()) return
  await attempt(context, 'sessions', () => deleteSilently(db, atOnce))
  await each(context, 'scheduled events', dueEvents, goOff)
  await each(context, 'recurring events', dueRecurringEvents, fire)
  await each(context, 'expired states', expiredStates, expire)
  await each(context, 'overdue workflows', dueWorkflows, timeOut)
}

async function each<Row>(
  context: Context,
  what: string,
  find: (db: Database, limit: number) => Promise<Row[]>,
  act: (context: Context, row: Row) => Promise<void>,
): Promise<void> {
  const rows = (await attempt(context, what, () => find(context.db, atOnce))) ?? []
  for (const row of rows) await attempt(context, what, () => act(context, row))
}

async function attempt<Result>(
  { log }: Context,
  what: string,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await work()
  } catch (error) {
    log.error({ err: error, what }, 'Something that is due could not be done; the next look finds it again')
    return undefined
  }
}

async function goOff(context: Context, event: EventRow): Promise<void> {
  if (event.type === messageScheduled) return say(context, event)
  if (await putIntoMailbox(context.db, event)) await wakeWorker(context, 'event', event.mailbox, event.bot_id)
}

/** Says a message that had to wait for its time. */
async function say(context: Context, event: EventRow): Promise<void> {
  const ready = event.payload as unknown as ReadyMessage
  const message = await context.db.transaction(async (transaction) => {
    if (!(await lockScheduledEvent(transaction, event))) return undefined
    const stored = await storeInSavepoint(transaction, ready)
    await endScheduledEvent(transaction, event.id, stored ? { status: 'processed' } : gone)
    return stored
  })
  if (message) await announceMessage({ ...context, caller: { kind: 'bot', botId: event.bot_id } }, message)
}

const gone = { status: 'failed', failureReason: 'The author of the message was deleted before its time came' } as const

/** Undefined when somebody whom the message refers to is not there any more. */
async function storeInSavepoint(db: Database, ready: ReadyMessage): ReturnType<typeof storeMessage> {
  try {
    return await db.transaction((savepoint) => storeMessage(savepoint, ready))
  } catch (error) {
    if (postgresCode(error) === foreignKeyViolation) return undefined
    throw error
  }
}

/** However many times were missed, it fires once, and then at the next time from now on. */
async function fire(context: Context, due: RecurringEventRow): Promise<void> {
  const now = new Date(Math.max(Date.now(), due.next_at.getTime()))
  const mailbox = await fireRecurringEvent(context.db, due, newId('evt'), nextOccurrence(due.cron, now))
  if (mailbox) await wakeWorker(context, 'event', mailbox, due.bot_id)
}

async function expire(context: Context, row: StateRow): Promise<void> {
  const event = { id: newId('evt'), type: stateExpired, payload: { state: toState(row) } }
  const mailbox = await expireState(context.db, row, event)
  if (mailbox) await wakeWorker(context, 'event', mailbox, row.bot_id)
}

async function timeOut(context: Context, { bot_id: botId, id }: WorkflowRow): Promise<void> {
  const mailboxes = await context.db.transaction((transaction) => timeOutWorkflow(transaction, botId, id))
  for (const mailbox of mailboxes) await wakeWorker(context, 'event', mailbox, botId)
}

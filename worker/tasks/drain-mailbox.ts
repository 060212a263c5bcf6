import { publishHint, publishOutcome, wakeWorker } from '#shared/signals/after-commit.ts'
import { isUnstorable } from '#shared/errors.ts'
import { isConverse } from '#shared/models/converse.ts'
import { actionTriggered, messageCreated, register, unregister, webhookReceived } from '#shared/models/event.ts'
import { toStorable } from '#shared/models/storable.ts'
import { announceUserMessage } from '#shared/messaging/inbox-news.ts'
import { InterruptedError } from '#shared/queue/queue.ts'
import { registrationEnded } from '#shared/integrations/registration.ts'
import { retryEvent, type EventCompletion } from '#shared/store/complete-events.ts'
import { recordMessageNews } from '#shared/store/inbox-webhooks.ts'
import type { ClaimedEvent } from '#shared/store/mailboxes.ts'
import { eventExists } from '#shared/store/journal.ts'
import { deleteBody } from '#shared/store/webhook-bodies.ts'
import type { Activity } from '../metrics/activity.ts'
import type { WrittenLine } from '../run-record/event-log.ts'
import type { Failure } from '../run-record/failures.ts'
import { countEvent, observedEvent } from '../metrics/instrumentation.ts'
import { runEvent, type Handled } from '../execution/run-event.ts'
import { RunRecorder, waitedMilliseconds } from '../run-record/run-recorder.ts'
import { positionChange } from '../calls/flow-task.ts'
import { InvalidStateError } from '../calls/invalid-state-error.ts'
import { writesRefused } from '../execution/host.ts'
import { stateChanges } from '../execution/state-changes.ts'
import type { WorkerContext } from '../context.ts'

const unstorableText =
  'event.state or the output holds a character that cannot be stored: U+0000 or half a surrogate pair'

/** Maximum of events, and of time, that one mailbox gets before it releases the slot. */
const batch = 50
const turnMilliseconds = 1000

/**
 * Handles the waiting events of a mailbox, one after the other. After its share of events or time the mailbox is queued
 * again, behind others.
 *
 * @throws InterruptedError when a run was interrupted: the job is requeued at once, or later where the cause may last
 * @throws Error when the database fails: the job is retried after a delay
 */
export async function drainMailbox(
  worker: WorkerContext,
  { mailbox, botId }: { mailbox: string; botId: string },
): Promise<void> {
  const begin = performance.now()
  for (let handled = 0; handled < batch; handled++) {
    if (handled > 0 && performance.now() - begin > turnMilliseconds) break
    const event = await worker.mailboxes.claim({ mailbox, botId })
    if (!event) return
    const next = await handleEvent(worker, event)
    if (next === 'wait') return
    // Events that arrive from now on have wake-ups of their own.
    if (!event.more) return
  }
  await worker.queue.wake('event', mailbox, botId)
}

/** @returns `wait` when the mailbox must not continue yet */
function handleEvent(worker: WorkerContext, event: ClaimedEvent): Promise<'go on' | 'wait'> {
  return observedEvent(event, () => handle(worker, event))
}

async function handle(worker: WorkerContext, event: ClaimedEvent): Promise<'go on' | 'wait'> {
  const recorder = new RunRecorder()
  const handled = await runEvent(worker, event, recorder)
  switch (handled.status) {
    case 'interrupted':
      countEvent(worker, event, 'interrupted', recorder.now)
      throw new InterruptedError(`The run of event ${event.id} was interrupted: ${handled.reason}`, {
        mayLast: handled.reason === writesRefused,
      })
    case 'ignored':
      await recordNews(worker, event)
      await end(worker, event, { status: 'ignored', states: [], logs: handled.logs }, recorder)
      if (event.handover_id !== null && event.type === messageCreated)
        await announceUserMessage(worker, event.handover_id)
      return 'go on'
    case 'failed':
      return fail(worker, event, handled, recorder)
    case 'done':
      return finish(worker, event, handled, recorder)
  }
}

/** Before the end of the event: a worker that takes it over after a crash records the same message once. */
async function recordNews({ db }: WorkerContext, event: ClaimedEvent): Promise<void> {
  const { handover_id: handoverId, message_id: messageId, type } = event
  if (handoverId !== null && messageId !== null && type === messageCreated) {
    await recordMessageNews(db, { handoverId, messageId })
  }
}

async function finish(
  worker: WorkerContext,
  event: ClaimedEvent,
  handled: Handled & { status: 'done' },
  recorder: RunRecorder,
): Promise<'go on' | 'wait'> {
  const { logs, result, state, position } = handled
  try {
    const states = state ? [...stateChanges(event, state), ...positionChange(event, position)] : []
    await end(worker, event, { status: 'processed', states, logs, ...(isAwaited(event) && { result }) }, recorder)
    return 'go on'
  } catch (error) {
    const unfit =
      error instanceof InvalidStateError ? error : isUnstorable(error) && new InvalidStateError(unstorableText)
    if (!unfit) throw error
    const reason = `result: ${unfit.message}`
    const { retry } = handled
    const failure = { reason, details: reason, kind: 'result' } as const
    return fail(worker, event, { status: 'failed', logs, failure, retry }, recorder)
  }
}

/** Completes the event as failed, or schedules another run where the retry policy allows one. */
async function fail(
  worker: WorkerContext,
  event: ClaimedEvent,
  handled: Handled & { status: 'failed' },
  recorder: RunRecorder,
): Promise<'go on' | 'wait'> {
  const { failure, retry, result } = handled
  const { reason, details } = failure
  const logs: WrittenLine[] = [
    ...handled.logs,
    { timestamp: new Date().toISOString(), level: 'error', message: details },
  ]
  if (retry && event.failures + 1 < retry.attempts) {
    const delay = retry.backoff * 2 ** event.failures
    const runs = recorder.finish(event, 'retried', failure)
    const isOurs = await retryEvent(worker.db, { ...event, failureReason: reason, delay, runs, logs })
    if (isOurs) {
      count(worker, event, 'retried', recorder)
      await worker.queue.wakeLater('event', event.mailbox, event.bot_id, delay)
    }
    return 'wait'
  }
  const stored = { failureReason: reason, result: toStorable(result) }
  await end(worker, event, { status: 'failed', ...stored, states: [], logs }, recorder, failure)
  return 'go on'
}

/** Whether a caller may wait for the event's result or read it later. */
function isAwaited({ type, installation_id: installationId, conversation_tags: tags }: ClaimedEvent): boolean {
  return type === actionTriggered || installationId !== null || (type === messageCreated && isConverse(tags))
}

async function end(
  worker: WorkerContext,
  event: ClaimedEvent,
  how: Omit<EventCompletion, 'id' | 'attempt' | 'runs'>,
  recorder: RunRecorder,
  failure?: Failure,
): Promise<void> {
  const { mailboxes, log, db } = worker
  const registered = await endRegistration(worker, event, how)
  const logs = [...how.logs, ...registered]
  // Ignored events ran no code, so they have no run record.
  const runs = how.status !== 'ignored' && { runs: recorder.finish(event, how.status, failure) }
  const completion = { id: event.id, attempt: event.attempt, ...how, ...runs, logs }
  const isOurs = await mailboxes.end({ botId: event.bot_id, completion })
  if (isOurs) count(worker, event, how.status, recorder)
  if (!isOurs) {
    const run = { eventId: event.id, attempt: event.attempt }
    if (await eventExists(db, event.id)) log.warn(run, 'A newer run of the event has completed it')
    else log.info(run, 'The event was deleted while it ran')
  }
  if (isOurs && event.type === webhookReceived) await deleteBody(db, event.id)
  if (isAwaited(event)) await publishOutcome(worker, event.id)
  // Transcripts show the failure.
  if (isOurs && how.status === 'failed' && event.conversation_id) await publishHint(worker, event.conversation_id)
  const tableId = event.type === actionTriggered ? event.payload['tableId'] : undefined
  if (typeof tableId === 'string') await wakeWorker(worker, 'recompute-rows', tableId, event.bot_id)
}

function count(
  worker: WorkerContext,
  event: ClaimedEvent,
  outcome: Parameters<Activity['ended']>[1],
  recorder: RunRecorder,
): void {
  countEvent(worker, event, outcome, recorder.now)
  worker.activity.ended(event.bot_id, outcome, { handling: recorder.now, waiting: waitedMilliseconds(event) })
}

async function endRegistration(
  worker: WorkerContext,
  event: ClaimedEvent,
  how: Pick<EventCompletion, 'status' | 'failureReason'>,
) {
  const { type, installation_id } = event
  if ((type !== register && type !== unregister) || installation_id === null) return []
  return registrationEnded(worker, { ...event, installation_id }, how)
}

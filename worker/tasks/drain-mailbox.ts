import type { LogLine, Outcome } from '#sandbox/contract.ts'
import { isUnstorable } from '#shared/errors.ts'
import { actionTriggered } from '#shared/models/event.ts'
import { outcomeTopic } from '#shared/signals.ts'
import { retryEvent, type ClaimedEvent, type EventEnd } from '#shared/store/mailboxes.ts'
import type { BotVersion } from '../bundles.ts'
import { describeFailure, runEvent } from '../run-event.ts'
import { stateChanges, UnfitState } from '../state-changes.ts'
import type { Tools } from '../worker.ts'

const unstorableText =
  'event.state or the output holds a character that cannot be stored: U+0000 or half a surrogate pair'

/** How many events of one mailbox are handled before others get the slot. */
const batch = 50

/**
 * Handles the events that wait in a mailbox, one after the other. When the batch is full the mailbox is woken again,
 * behind those that wait.
 *
 * @throws Error when a run was interrupted or the database fails: the job comes again after a while
 */
export async function drainMailbox(tools: Tools, mailbox: string): Promise<void> {
  for (let handled = 0; handled < batch; handled++) {
    const event = await tools.mailboxes.claim(mailbox)
    if (!event) return
    const next = await handleEvent(tools, event)
    if (next === 'wait') return
    // An event that arrives from now on brings a wake-up of its own.
    if (!event.more) return
  }
  await tools.queue.wake('event', mailbox)
}

/** @returns `wait` when the mailbox must not go on yet */
async function handleEvent(tools: Tools, event: ClaimedEvent): Promise<'go on' | 'wait'> {
  const version = event.version_id ? await tools.bundles.get(event.bot_id, event.version_id) : undefined
  const outcome = version && (await runEvent(tools, event, version))
  if (!version || !outcome) {
    await end(tools, event, { status: 'ignored', states: [], logs: [] })
    return 'go on'
  }
  switch (outcome.status) {
    case 'interrupted':
      throw new Error(`The run of event ${event.id} was interrupted: ${outcome.reason}`)
    case 'failed':
      return fail(tools, event, version, outcome)
    case 'done':
      return finish(tools, event, version, outcome)
  }
}

async function finish(
  tools: Tools,
  event: ClaimedEvent,
  version: BotVersion,
  outcome: Outcome & { status: 'done' },
): Promise<'go on' | 'wait'> {
  const { logs } = outcome
  try {
    const states = stateChanges(event, outcome.state)
    const result = event.type === actionTriggered && { result: outcome.result }
    await end(tools, event, { status: 'processed', states, logs, ...result })
    return 'go on'
  } catch (error) {
    const unfit = error instanceof UnfitState ? error : isUnstorable(error) && new UnfitState(unstorableText)
    if (!unfit) throw error
    return fail(tools, event, version, { ...outcome, status: 'failed', reason: 'result', error: unfit })
  }
}

/** Ends the event as failed, or lets it wait for another run where the bot asked for that. */
async function fail(
  tools: Tools,
  event: ClaimedEvent,
  version: BotVersion,
  outcome: Outcome & { status: 'failed' },
): Promise<'go on' | 'wait'> {
  const { reason, details } = describeFailure(outcome, version)
  const logs: LogLine[] = [...outcome.logs, { timestamp: new Date().toISOString(), level: 'error', message: details }]
  const { retry } = version
  if (retry && event.failures + 1 < retry.attempts) {
    const delay = retry.backoff * 2 ** event.failures
    const isOurs = await retryEvent(tools.db, { ...event, failureReason: reason, delay, logs })
    if (isOurs) await tools.queue.wakeLater('event', event.mailbox, delay)
    return 'wait'
  }
  await end(tools, event, { status: 'failed', failureReason: reason, states: [], logs })
  return 'go on'
}

async function end(tools: Tools, event: ClaimedEvent, how: Omit<EventEnd, 'id' | 'attempt'>): Promise<void> {
  const { mailboxes, log, signals } = tools
  const isOurs = await mailboxes.end({ id: event.id, attempt: event.attempt, ...how })
  if (!isOurs) log.warn({ eventId: event.id, attempt: event.attempt }, 'An event was ended by a newer run of it')
  if (event.type === actionTriggered) await signals.publish(outcomeTopic(event.id), {})
}

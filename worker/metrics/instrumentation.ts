import type { HostCall, Outcome, RunRequest } from '#sandbox/protocol/contract.ts'
import type { Sandbox } from '#sandbox/sandbox.ts'
import type { Context } from '#shared/context.ts'
import { inLogScope, logFields, withLogFields } from '#shared/telemetry/log-scope.ts'
import type { ClaimedEvent } from '#shared/store/mailboxes.ts'
import { openedTracing, traced, type OpenSpan } from '#shared/telemetry/tracing.ts'
import { waitedMilliseconds, type OpenStep } from '../run-record/run-recorder.ts'

/** How a run of an event ended. */
export type EventOutcome = 'processed' | 'ignored' | 'failed' | 'retried' | 'interrupted'

/** Handles an event in a span of its own, with its ids on its log lines. */
export function observedEvent<Result>(event: ClaimedEvent, work: () => Promise<Result>): Promise<Result> {
  const { id: eventId, bot_id: botId, conversation_id: conversationId, attempt, type } = event
  const fields = { botId, eventId, attempt, ...(conversationId !== null && { conversationId }) }
  const attributes = {
    'isobot.bot_id': botId,
    'isobot.event_id': eventId,
    'isobot.event_type': type,
    'isobot.attempt': attempt,
    'isobot.waited_ms': waitedMilliseconds(event),
  }
  return withLogFields(fields, () => traced('handle event', attributes, work))
}

/** Counts a completed run of an event. */
export function countEvent(
  { metrics, log }: Context,
  event: ClaimedEvent,
  outcome: EventOutcome,
  milliseconds: number,
): void {
  metrics.events.inc({ outcome })
  metrics.handlingSeconds.observe(milliseconds / 1000)
  if (event.attempt === 1) metrics.queueSeconds.observe(waitedMilliseconds(event) / 1000)
  if (log.isLevelEnabled('debug')) log.debug({ type: event.type, outcome, milliseconds }, 'Handled')
}

/**
 * Runs code, counts its outcome, and traces it. The sandbox makes the run's host calls and fetches outside of the run's
 * log and trace scope, so they re-enter it here.
 */
export async function observedRun(
  { sandbox, metrics }: Pick<Context, 'metrics'> & { sandbox: Sandbox },
  run: RunRequest,
) {
  const { task, host, fetch } = run
  const outcome = await traced(`run ${task.kind}`, {}, async (span) => {
    const inScope = openScope()
    const beganAt = Date.now()
    const ended = await sandbox.run({
      ...run,
      host: (call: HostCall, reserveStream) => inScope(() => traced('host call', {}, () => host(call, reserveStream))),
      ...(fetch && {
        fetch: (request, signal) =>
          inScope(async () => {
            const answer = await traced('outbound request', {}, (open) => noted(open, fetch(request, signal)), 'client')
            metrics.outboundRequests.inc({ outcome: 'failure' in answer ? answer.failure : 'answered' })
            return answer
          }),
      }),
    })
    if (span) publishOutcome(span, ended, beganAt)
    return ended
  })
  metrics.runs.inc({ outcome: outcome.status === 'failed' ? outcome.reason : outcome.status })
  const isWithin = task.kind !== 'event' && task.within !== undefined
  // A nested run draws on the outer run's processor time, which includes it.
  if (!isWithin) metrics.processorSeconds.inc(outcome.cpuMilliseconds / 1000)
  return outcome
}

/** Captures the current scope, to re-enter it from outside. Node's own snapshot of all scopes takes 5 µs. */
function openScope(): <Result>(work: () => Result) => Result {
  const fields = logFields() ?? {}
  const inSpan = openedTracing()?.keep()
  return (work) => inLogScope(fields, () => (inSpan ? inSpan(work) : work()))
}

async function noted<Answer extends { status: number } | { failure: string }>(
  span: OpenSpan | undefined,
  answered: Promise<Answer>,
): Promise<Answer> {
  const answer = await answered
  if ('failure' in answer) span?.set({ 'error.type': answer.failure })
  else span?.set({ 'http.response.status_code': answer.status })
  return answer
}

/** Each hook begins when the one before it has ended, or waits for its call. */
function publishOutcome(span: OpenSpan, outcome: Outcome, beganAt: number): void {
  span.set({ 'isobot.outcome': outcome.status, 'isobot.processor_ms': outcome.cpuMilliseconds })
  if (outcome.status === 'failed') span.set({ 'error.type': outcome.reason })
  const { hooks } = outcome
  for (const [index, { name, start }] of hooks.entries()) {
    const end = hooks[index + 1]?.start
    span.past(`hook ${name}`, beganAt + start, end === undefined ? Date.now() : beganAt + end, {})
  }
}

/** Counts a host call when it is answered, and names its span. */
export function observedCall({ metrics, log }: Context, step: OpenStep): OpenStep {
  const begin = performance.now()
  let operation = 'none'
  return {
    name(name) {
      operation = name
      openedTracing()?.rename(`host call ${name}`)
      step.name(name)
    },
    end(answer) {
      const milliseconds = performance.now() - begin
      metrics.hostCalls.observe({ operation, status: String(answer) }, milliseconds / 1000)
      if (log.isLevelEnabled('debug')) log.debug({ operation, status: answer, milliseconds }, 'Called')
      step.end(answer)
    },
    model: (facts) => step.model(facts),
  }
}

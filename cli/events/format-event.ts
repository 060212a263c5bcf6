import type { EventInFull, EventSummary } from './bot-events.ts'
import { formatLine } from './follow-logs.ts'
import { withoutControlCharacters, localTime, styled, table } from '../output.ts'

/** Events as a table for people. */
export function formatEvents(events: readonly EventSummary[]): string {
  const rows = events.map((event) => [
    localTime(event.createdAt),
    event.id,
    event.status,
    event.type,
    event.milliseconds === undefined ? '' : `${Math.round(event.milliseconds)} ms`,
    shorten(event.failureReason ?? event.preview ?? '', 60),
  ])
  const lines = table(['CREATED', 'ID', 'STATUS', 'TYPE', 'TOOK', ''], rows).split('\n')
  return lines.map((line, index) => (events[index - 1]?.status === 'failed' ? styled('red', line) : line)).join('\n')
}

/** An event with all its fields, for people. */
export function formatEvent(event: EventInFull): string {
  const failure = event.failureReason
    ? [styled('red', withoutControlCharacters(event.error?.stack ?? event.failureReason))]
    : []
  const replayable = event.isReplayable ? ['It can be replayed'] : []
  return [
    `${styled('bold', event.id)}  ${withoutControlCharacters(event.type)}  ${formatStatus(event.status)}  ${localTime(event.createdAt)}`,
    ...(event.preview ? [`Says: ${withoutControlCharacters(event.preview)}`] : []),
    ...(event.conversationId ? [`Conversation: ${event.conversationId}`] : []),
    ...failure,
    ...event.runs.flatMap((run) => ['', ...formatRun(run)]),
    ...(event.logs.length > 0 ? ['', styled('bold', 'Log'), ...event.logs.map(formatLine)] : []),
    '',
    styled('bold', 'Payload'),
    withoutControlCharacters(JSON.stringify(payloadOf(event), undefined, 2)),
    ...replayable,
  ].join('\n')
}

/** The payload of a message event is in its message; the event has only the reference. */
function payloadOf({ message, payload }: EventInFull): object {
  return message ? { type: message.type, ...message.payload } : payload
}

function formatRun({
  attempt,
  outcome,
  startedAt,
  steps,
  stepsLeftOut,
  ...run
}: EventInFull['runs'][number]): string[] {
  const processor = run.cpuMilliseconds === undefined ? '' : ` (processor ${figure(run.cpuMilliseconds)})`
  const queue = `after ${figure(run.queueMilliseconds)} in the queue`
  const head = `Run ${attempt}: ${outcome} in ${figure(run.milliseconds)}${processor}, ${queue}`
  const rows = steps.map(({ kind, name, start, milliseconds, status, failure, depth, model }) => {
    const what = `${'  '.repeat(depth + 1)}${kind} ${name}${model ? `: ${formatModel(model)}` : ''}`
    return [what, failure ?? String(status ?? ''), `+${figure(start)}`, figure(milliseconds)]
  })
  return [
    `${styled('bold', head)}  ${styled('dim', localTime(startedAt))}`,
    ...(rows.length > 0 ? [table(['  STEP', 'STATUS', 'BEGAN', 'TOOK'], rows)] : []),
    ...(stepsLeftOut > 0 ? [`  and ${stepsLeftOut} steps more`] : []),
    ...(run.error ? [`  ${styled('red', withoutControlCharacters(run.error.message))}`] : []),
  ]
}

/** For instance `openai:gpt-5-mini, 120 + 35 tokens, $0.0001`. */
function formatModel({
  id,
  inputTokens,
  outputTokens,
  cost,
  isReplayed,
  firstTextMilliseconds,
  failure,
}: ModelCall): string {
  return [
    withoutControlCharacters(id),
    `${inputTokens} + ${outputTokens} tokens`,
    ...(cost > 0 ? [`$${cost.toFixed(4)}`] : []),
    ...(firstTextMilliseconds === undefined ? [] : [`first text after ${figure(firstTextMilliseconds)}`]),
    ...(isReplayed ? ['recorded by an earlier run'] : []),
    ...(failure === undefined ? [] : [failure]),
  ].join(', ')
}

type ModelCall = NonNullable<EventInFull['runs'][number]['steps'][number]['model']>

function formatStatus(status: EventSummary['status']): string {
  const colours: Partial<Record<EventSummary['status'], 'red' | 'green' | 'yellow'>> = {
    failed: 'red',
    processed: 'green',
    pending: 'yellow',
  }
  return styled(colours[status] ?? 'dim', status)
}

function figure(milliseconds: number): string {
  return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`
}

/** The first line of a text, cut to the given length. */
function shorten(text: string, length: number): string {
  const [line = ''] = text.split('\n')
  return line.length > length ? `${line.slice(0, length - 1)}…` : line
}

import { closedObject, type Infer } from '../schema.ts'
import type { EventRow, MessageRow } from './tables.ts'
import { eventStatuses } from './event.ts'
import { unreplayable } from './failed-event.ts'
import { logLine, toLogLine, type DescribedLogRow } from './log-line.ts'
import { previewOf } from './payload.ts'
import { stepKinds, type ModelStep, type RunRecord } from './run-record.ts'

const time = { type: 'string', format: 'date-time' } as const
const milliseconds = { type: 'number' } as const

const required = {
  id: { type: 'string' },
  type: { type: 'string' },
  direction: { enum: ['incoming', 'outgoing'] },
  status: { enum: eventStatuses },
  attempts: { type: 'integer', description: 'The number of runs, interrupted runs included.' },
  failureReason: { type: 'string', nullable: true },
  isReplayable: { type: 'boolean', description: 'Whether the event failed and replayFailedEvent accepts it.' },
  createdAt: time,
} as const

const optional = {
  preview: { type: 'string', description: 'The beginning of the content, as plain text. Not for viewers.' },
  conversationId: { type: 'string' },
  userId: { type: 'string' },
  messageId: { type: 'string' },
  integration: { type: 'string', description: 'The name of the integration that the event came through.' },
  installationAlias: {
    type: 'string',
    description: 'The alias of the installation whose code handles the event; absent when the bot’s code handles it.',
  },
  hook: { type: 'string', description: 'The hook or other function that failed last.' },
  versionId: { type: 'string', description: 'The bot’s version that ran last.' },
  startedAt: { ...time, description: 'The start of the last run.' },
  endedAt: time,
  handoverId: {
    type: 'string',
    description: 'The handover during which the event came: no code handled it, unless it is an update of a workflow.',
  },
  queueMilliseconds: { ...milliseconds, description: 'Time from the event’s due time to the start of the last run.' },
  milliseconds: { ...milliseconds, description: 'Duration of the last run.' },
  cpuMilliseconds: { ...milliseconds, description: 'Processor time of the last run.' },
} as const

/** An event, as a timeline shows it. */
export const timelineEvent = closedObject(required, optional)

const runError = closedObject(
  {
    reason: { type: 'string', description: '`error`, or the limit that the run exceeded.' },
    message: { type: 'string' },
  },
  { hook: { type: 'string' } },
)

const step = closedObject(
  {
    kind: {
      enum: stepKinds,
      description:
        'load: preparation of the isolate; hook and action: code of the bot or an integration; card: a card of a flow, ' +
        'named flow/node/card; call: an operation of the platform; fetch: an outbound request.',
    },
    name: { type: 'string' },
    start: { ...milliseconds, description: 'Time from the start of the run.' },
    milliseconds,
    depth: { type: 'integer', description: 'The number of enclosing steps.' },
  },
  {
    status: { type: 'integer', description: 'The HTTP status of the response.' },
    failure: { type: 'string', description: 'Why there is no response.' },
    model: closedObject(
      {
        id: { type: 'string', description: '`provider:model`: that which answered, or was asked last.' },
        inputTokens: { type: 'integer' },
        outputTokens: { type: 'integer' },
        cost: { type: 'number', description: 'An estimate in US dollars.' },
        isReplayed: {
          type: 'boolean',
          description: 'Whether the answer is that of an earlier run of the event, which paid for it.',
        },
      },
      {
        firstTextMilliseconds: { ...milliseconds, description: 'Of a stream: time from the call to the first text.' },
        failure: { type: 'string', description: 'Why there is no answer, for instance `limited 429`.' },
        prompt: { type: 'string', description: 'Where the bot keeps prompts; the middle of a long one is left out.' },
        answer: { type: 'string' },
      },
    ),
  },
)

const run = closedObject(
  {
    attempt: { type: 'integer' },
    startedAt: time,
    outcome: { enum: ['processed', 'failed', 'ignored', 'retried'] },
    queueMilliseconds: milliseconds,
    milliseconds,
    steps: {
      type: 'array',
      items: step,
      description: 'The steps in the order of their start, at most 200 cards of flows and 60 others.',
    },
    stepsLeftOut: { type: 'integer' },
  },
  { versionId: { type: 'string' }, cpuMilliseconds: milliseconds, error: runError },
)

/** An event with all details. */
export const timelineEventDetails = closedObject(
  {
    ...required,
    payload: { type: 'object' },
    availableAt: { ...time, description: 'The time when the event is due.' },
    runs: {
      type: 'array',
      items: run,
      description: 'The last five runs, oldest first. Interrupted runs leave no record.',
    },
    logs: {
      type: 'array',
      items: logLine,
      description: 'The log of the event’s runs, oldest line first, at most 1,000 lines.',
    },
  },
  {
    ...optional,
    result: { description: 'The output of an action or an integration.' },
    message: closedObject({
      id: { type: 'string' },
      type: { type: 'string' },
      payload: { type: 'object' },
      createdAt: time,
    }),
    error: closedObject(
      { message: { type: 'string' } },
      { stack: { type: 'string', description: 'The stack, with files and lines of the author’s sources.' } },
    ),
  },
)

const previewCharacters = 200

/** The parameters of an event's representation. */
export interface TimelineView {
  /** Whether the viewer may read the contents of messages. */
  showsContents: boolean
  /** Events that failed earlier cannot be replayed, since their journals are deleted. */
  oldestReplayable: Date
}

export function toTimelineEvent(row: TimelineRow, view: TimelineView): Infer<typeof timelineEvent> {
  const last = row.runs?.at(-1)
  const { started_at: startedAt, ended_at: endedAt, available_at: availableAt } = row
  const isReplayable =
    row.status === 'failed' && !unreplayable.includes(row.type) && endedAt !== null && endedAt > view.oldestReplayable
  return {
    id: row.id,
    type: row.type,
    direction: row.direction,
    status: row.status,
    ...(view.showsContents && { preview: toPreview(row) }),
    ...(row.conversation_id !== null && { conversationId: row.conversation_id }),
    ...(row.user_id !== null && { userId: row.user_id }),
    ...(row.message_id !== null && { messageId: row.message_id }),
    ...(row.integration !== null && { integration: row.integration }),
    ...(row.installation_alias !== null && { installationAlias: row.installation_alias }),
    attempts: row.attempt,
    failureReason: row.failure_reason,
    ...(row.failure_reason !== null && last?.error?.hook !== undefined && { hook: last.error.hook }),
    ...(last?.version !== undefined && { versionId: last.version }),
    isReplayable,
    createdAt: row.created_at.toISOString(),
    ...(startedAt && {
      startedAt: startedAt.toISOString(),
      queueMilliseconds: Math.max(0, startedAt.getTime() - availableAt.getTime()),
    }),
    ...(endedAt && { endedAt: endedAt.toISOString() }),
    ...(row.handover_id !== null && { handoverId: row.handover_id }),
    ...durationOf(row),
    ...(last?.cpu !== undefined && { cpuMilliseconds: last.cpu }),
  }
}

/**
 * The duration by the event's columns when there is no record: no code was called, or the event is older than records.
 */
function durationOf({ runs, started_at: startedAt, ended_at: endedAt }: TimelineRow): { milliseconds?: number } {
  const took = runs?.at(-1)?.took
  if (took !== undefined) return { milliseconds: took }
  return startedAt && endedAt ? { milliseconds: Math.max(0, endedAt.getTime() - startedAt.getTime()) } : {}
}

function toPreview({ message_type: type, message_payload: payload, ...row }: TimelineRow): string {
  const content = type === null ? { type: row.type, payload: row.payload } : { type, payload: payload ?? {} }
  return previewOf(content).slice(0, previewCharacters).toWellFormed()
}

/** The parts of a full event beside its row. */
interface EventParts {
  message: MessageRow | undefined
  logs: DescribedLogRow[]
  /** Questions to language models and their answers, by their keys. */
  contents: ReadonlyMap<string, { prompt: string; answer: string }>
}

export function toTimelineEventDetails(
  row: TimelineRow,
  { message, logs, contents }: EventParts,
  view: TimelineView,
): Infer<typeof timelineEventDetails> {
  return {
    ...toTimelineEvent(row, view),
    payload: row.payload,
    ...(row.result !== null && { result: row.result }),
    availableAt: row.available_at.toISOString(),
    ...(message && {
      message: {
        id: message.id,
        type: message.type,
        payload: message.payload,
        createdAt: message.created_at.toISOString(),
      },
    }),
    runs: (row.runs ?? []).map((record) => toRun(record, contents)),
    ...(row.failure_reason !== null && { error: toError(row.failure_reason, logs) }),
    logs: logs.map(toLogLine),
  }
}

function toRun(record: RunRecord, contents: EventParts['contents']): Infer<typeof run> {
  return {
    attempt: record.attempt,
    startedAt: record.at,
    outcome: record.outcome,
    ...(record.version !== undefined && { versionId: record.version }),
    queueMilliseconds: record.waited,
    milliseconds: record.took,
    ...(record.cpu !== undefined && { cpuMilliseconds: record.cpu }),
    ...(record.error && { error: record.error }),
    steps: (record.steps ?? []).map(([kind, name, start, took, depth, answer, model]) => ({
      kind,
      name,
      start,
      milliseconds: took,
      depth,
      ...(typeof answer === 'number' && { status: answer }),
      ...(typeof answer === 'string' && { failure: answer }),
      ...(model && { model: toModelCall(model, contents) }),
    })),
    stepsLeftOut: record.leftOut ?? 0,
  }
}

function toModelCall(
  { model, input = 0, output = 0, cost = 0, first, replayed, failure, contents: key }: ModelStep,
  contents: EventParts['contents'],
): NonNullable<Infer<typeof step>['model']> {
  const kept = key === undefined ? undefined : contents.get(key)
  return {
    id: model,
    inputTokens: input,
    outputTokens: output,
    cost,
    isReplayed: replayed === true,
    ...(first !== undefined && { firstTextMilliseconds: first }),
    ...(failure !== undefined && { failure }),
    ...(kept && { prompt: kept.prompt, answer: kept.answer }),
  }
}

/** The error's stack follows the reason in the last error line of the event's log that begins with it. */
function toError(message: string, logs: DescribedLogRow[]): { message: string; stack?: string } {
  const line = logs.findLast((each) => each.level === 'error' && each.message.startsWith(message))
  const stack = line?.message.slice(message.length).trim()
  return { message, ...(stack && { stack }) }
}

/** An event, with the columns of other tables that a timeline shows. */
export interface TimelineRow extends EventRow {
  message_type: string | null
  message_payload: MessageRow['payload'] | null
  /** The alias of the installation whose integration handles the event; null for the bot's own code. */
  installation_alias: string | null
}

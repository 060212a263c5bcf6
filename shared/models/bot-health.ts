import { addCounts, percentile, type LatencyHistogram } from '../telemetry/latency-histogram.ts'
import { closedObject, type Infer } from '../schema.ts'

const count = { type: 'integer' } as const
const time = { type: 'string', format: 'date-time' } as const
const milliseconds = { type: 'number', nullable: true } as const

const outcomes = {
  processed: count,
  failed: { ...count, description: 'Events that failed finally.' },
  ignored: { ...count, description: 'Events without a hook or handler.' },
  retried: { ...count, description: 'Runs that failed and are retried.' },
} as const

const waiting = { ...count, description: 'Events that are due and not yet handled.' } as const

/** The fields of a bot's state that may be absent. */
const optionalState = {
  versionId: { type: 'string', description: 'The deployed version.' },
  disabledReason: { type: 'string', description: 'Why the platform suspended the version; absent while it runs.' },
  lastEventAt: time,
  oldestWaitingAt: { ...time, description: 'The time since which the oldest waiting event is due.' },
} as const

const quality = {
  events: closedObject(outcomes),
  errorRate: {
    ...milliseconds,
    description: 'Failed events as a fraction of the handled events; null without handled events.',
  },
  p50: { ...milliseconds, description: 'Median of the handling time, in milliseconds.' },
  p95: {
    ...milliseconds,
    description: '95th percentile of the handling time, in milliseconds; the error is at most about an eighth.',
  },
} as const

/** A bot's health, as lists show it. */
export const botHealthSummary = closedObject(
  {
    botId: { type: 'string' },
    name: { type: 'string' },
    ...quality,
    eventsPerMinute: {
      type: 'array',
      items: { type: 'integer' },
      description: 'The number of handled events in each minute of the last hour; the current minute is the last.',
    },
    waiting,
  },
  optionalState,
)

const bucket = closedObject({
  at: { ...time, description: 'The start of the bucket.' },
  ...outcomes,
  putBack: { ...count, description: 'Wake-ups that were requeued because the bot used its full share of a worker.' },
  p50: milliseconds,
  p95: milliseconds,
  queueP50: milliseconds,
  queueP95: milliseconds,
})

/** The available windows: length in seconds and number of the buckets, and the period of the stored counts. */
export const windows = {
  '1h': { seconds: 60, buckets: 60, kept: 60 },
  '24h': { seconds: 15 * 60, buckets: 96, kept: 900 },
  '7d': { seconds: 2 * 3600, buckets: 84, kept: 900 },
} as const
export type Window = keyof typeof windows
export const windowInput = { enum: ['1h', '24h', '7d'], default: '24h' } as const

/** A bot's present and past health. */
export const botHealth = closedObject(
  {
    window: { enum: ['1h', '24h', '7d'] },
    from: time,
    to: time,
    bucketSeconds: count,
    ...quality,
    queueP50: { ...milliseconds, description: 'Median of the time that events waited for a worker, in milliseconds.' },
    queueP95: milliseconds,
    waiting,
    buckets: { type: 'array', items: bucket },
  },
  optionalState,
)

/** The start of a window that ends now; all buckets have the full length except the last, which is not over. */
export function beginOf({ seconds, buckets }: { seconds: number; buckets: number }, now = Date.now()): Date {
  const width = seconds * 1000
  return new Date((Math.floor(now / width) - buckets + 1) * width)
}

/** @param rows the bot's activity by minutes */
export function toBotHealthSummary(
  row: BotHealthRow,
  rows: ActivityRow[],
  waiting: WaitingRow | undefined,
  from: Date,
): Infer<typeof botHealthSummary> {
  const minutes = bucketsOf(rows, from, windows['1h'])
  return {
    botId: row.id,
    name: row.name,
    ...qualityOf(rows),
    eventsPerMinute: minutes.map((minute) => {
      const { processed, failed, ignored } = sumOf(minute)
      return processed + failed + ignored
    }),
    ...stateOf(row, waiting),
  }
}

/** @param rows the bot's activity by the periods of the window */
export function toBotHealth(
  row: BotHealthRow,
  rows: ActivityRow[],
  waiting: WaitingRow | undefined,
  { window, from, to }: { window: Window; from: Date; to: Date },
): Infer<typeof botHealth> {
  const { seconds } = windows[window]
  const [queueP50, queueP95] = percentilesOf(rows.map((each) => each.waiting))
  return {
    window,
    from: from.toISOString(),
    to: to.toISOString(),
    bucketSeconds: seconds,
    ...qualityOf(rows),
    queueP50,
    queueP95,
    ...stateOf(row, waiting),
    buckets: bucketsOf(rows, from, windows[window]).map((each, index) =>
      toBucket(each, new Date(from.getTime() + index * seconds * 1000)),
    ),
  }
}

function toBucket(rows: ActivityRow[], at: Date): Infer<typeof bucket> {
  const [p50, p95] = percentilesOf(rows.map((row) => row.handling))
  const [queueP50, queueP95] = percentilesOf(rows.map((row) => row.waiting))
  return { at: at.toISOString(), ...sumOf(rows), putBack: total(rows, 'put_back'), p50, p95, queueP50, queueP95 }
}

/** The activity of each bucket. */
function bucketsOf(
  rows: ActivityRow[],
  from: Date,
  { seconds, buckets }: { seconds: number; buckets: number },
): ActivityRow[][] {
  const rowsByPeriod = Map.groupBy(rows, ({ at }) => Math.floor((at.getTime() - from.getTime()) / (seconds * 1000)))
  return Array.from({ length: buckets }, (_none, index) => rowsByPeriod.get(index) ?? [])
}

function qualityOf(rows: ActivityRow[]) {
  const events = sumOf(rows)
  const handled = events.processed + events.failed
  const [p50, p95] = percentilesOf(rows.map((row) => row.handling))
  return { events, errorRate: handled === 0 ? null : Number((events.failed / handled).toFixed(4)), p50, p95 }
}

function sumOf(rows: ActivityRow[]) {
  return {
    processed: total(rows, 'processed'),
    failed: total(rows, 'failed'),
    ignored: total(rows, 'ignored'),
    retried: total(rows, 'retried'),
  }
}

function total(rows: ActivityRow[], name: keyof typeof outcomes | 'put_back'): number {
  return rows.reduce((sum, row) => sum + row[name], 0)
}

function percentilesOf(counts: LatencyHistogram[]): [p50: number | null, p95: number | null] {
  const all = addCounts(counts)
  return [percentile(all, 0.5), percentile(all, 0.95)]
}

function stateOf(row: BotHealthRow, waiting: WaitingRow | undefined) {
  return {
    ...(row.version_id !== null && { versionId: row.version_id }),
    ...(row.disabled_reason !== null && { disabledReason: row.disabled_reason }),
    ...(row.last_event_at && { lastEventAt: row.last_event_at.toISOString() }),
    waiting: waiting?.waiting ?? 0,
    ...(waiting?.oldest_at && { oldestWaitingAt: waiting.oldest_at.toISOString() }),
  }
}

/** Counts of the outcomes of a bot's events. */
export interface OutcomeCounts {
  processed: number
  failed: number
  ignored: number
  /** Runs that failed and are retried. */
  retried: number
}

/** A bot's activity in one period. */
export interface ActivityRow extends OutcomeCounts {
  bot_id: string
  /** The start of the period. */
  at: Date
  put_back: number
  handling: LatencyHistogram
  waiting: LatencyHistogram
}

/** The columns of a bot that its health needs. */
export interface BotHealthRow {
  id: string
  name: string
  version_id: string | null
  disabled_reason: string | null
  last_event_at: Date | null
  created_at: Date
}

/** The numbers of a bot's events that are not handled yet. */
export interface WaitingRow {
  bot_id: string
  /** Events that are due, and the time since which the oldest is. */
  waiting: number
  oldest_at: Date | null
  /** Events that failed and wait for a retry. */
  retrying: number
  /** Events for a later time. */
  scheduled: number
}

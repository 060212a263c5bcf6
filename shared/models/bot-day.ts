import { closedObject, type Infer } from '../schema.ts'

/** Maximum number of days that one request counts. */
export const maxDays = 92

/** Names of a day, of event types and of counters each: bots choose them. */
export const maxNamesOfDay = 100

const count = { type: 'integer' } as const
const time = { type: 'string', format: 'date-time' } as const
const counts = { type: 'object', additionalProperties: count } as const
const measured = {
  mean: { type: 'number' },
  sd: { type: 'number' },
  min: { type: 'number' },
  max: { type: 'number' },
} as const

/** The counts of a bot on one day. */
export const botDay = closedObject({
  startDateTimeUtc: time,
  endDateTimeUtc: { ...time, description: 'The last millisecond of the day.' },
  newUsers: { ...count, description: 'Users that were created on this day.' },
  returningUsers: { ...count, description: 'Users that wrote on this day, and were created before it.' },
  sessions: { ...count, description: 'Conversations in which users wrote.' },
  messages: { ...count, description: 'The same as userMessages.' },
  userMessages: count,
  botMessages: count,
  events: count,
  eventTypes: { ...counts, description: `Events by type, of the ${maxNamesOfDay} most frequent types.` },
  customEvents: { ...counts, description: `The counts of trackAnalytics, of the ${maxNamesOfDay} highest, by name.` },
  llm: {
    ...closedObject({
      calls: count,
      errors: count,
      inputTokens: count,
      outputTokens: count,
      latency: closedObject(measured),
      tokensPerSecond: closedObject(measured),
      cost: closedObject({ sum: { type: 'number' }, ...measured }),
    }),
    description: 'Zero: calls of models are not counted.',
  },
})

/** The counts of one day that are made from rows. */
export interface DayCounts {
  newUsers: number
  returningUsers: number
  sessions: number
  userMessages: number
  botMessages: number
  /** Absent in counts from before 30 November 2026, which have all types. */
  events?: number
  eventTypes: Record<string, number>
  /** Absent: none. */
  customEvents?: Record<string, number>
}

const dayMilliseconds = 24 * 3600 * 1000

/** The days from the first to the last one, both included, as `2026-11-23`; at most one more than the maximum. */
export function daysBetween(first: string, last: string): string[] {
  const [from, to] = [Date.parse(first), Date.parse(last)]
  const days: string[] = []
  for (let at = from; at <= to && days.length <= maxDays; at += dayMilliseconds) {
    days.push(new Date(at).toISOString().slice(0, 10))
  }
  return days
}

const nothingMeasured = { mean: 0, sd: 0, min: 0, max: 0 }
const noCalls = {
  calls: 0,
  errors: 0,
  inputTokens: 0,
  outputTokens: 0,
  latency: nothingMeasured,
  tokensPerSecond: nothingMeasured,
  cost: { sum: 0, ...nothingMeasured },
}

/** The record of a day, written as `2026-11-23`. */
export function toBotDay(day: string, { customEvents = {}, ...counts }: DayCounts): Infer<typeof botDay> {
  return {
    startDateTimeUtc: `${day}T00:00:00.000Z`,
    endDateTimeUtc: `${day}T23:59:59.999Z`,
    ...counts,
    messages: counts.userMessages,
    events: counts.events ?? Object.values(counts.eventTypes).reduce((sum, number) => sum + number, 0),
    customEvents,
    llm: noCalls,
  }
}

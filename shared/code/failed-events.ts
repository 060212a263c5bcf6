import type { Config } from '../config/config.ts'

/** The filter of lists and replays of failed events. */
export const failedEventFilter = {
  type: { type: 'string', description: 'Events of this type.' },
  conversationId: { type: 'string' },
  reason: { type: 'string', minLength: 1, description: 'Text that the failure’s reason contains.' },
  afterDate: { type: 'string', format: 'date-time', description: 'Events that failed after this time.' },
  beforeDate: { type: 'string', format: 'date-time', description: 'Events that failed before this time.' },
} as const

/** The earliest time of failure of an event that can be replayed: the journal of its runs is retained this long. */
export function oldestReplayable({ retention }: Config): Date {
  return new Date(Date.now() - retention.failedMilliseconds)
}

import type { Config } from '../config/config.ts'

/** What narrows lists and replays of failed events. */
export const failedEventFilter = {
  type: { type: 'string', description: 'Events of this type.' },
  conversationId: { type: 'string' },
  reason: { type: 'string', minLength: 1, description: 'Words that occur in the failure’s reason.' },
  afterDate: { type: 'string', format: 'date-time', description: 'They failed after this time.' },
  beforeDate: { type: 'string', format: 'date-time', description: 'They failed before this time.' },
} as const

/** Since when an event must have failed to be replayed: for so long is kept what its runs have done. */
export function oldestReplayable({ retention }: Config): Date {
  return new Date(Date.now() - retention.failedMilliseconds)
}

import { closedObject, type Infer } from '../schema.ts'
import type { EventRow, LogRow } from './tables.ts'
import { actionTriggered, messageScheduled, register, unregister, webhookReceived } from './event.ts'

/**
 * Types whose failure was already reported in the response, and which the caller can send again: the result of a replay
 * would be discarded, and the body of a webhook request is not kept.
 */
export const unreplayable: readonly string[] = [
  actionTriggered,
  webhookReceived,
  register,
  unregister,
  messageScheduled,
]

const required = {
  id: { type: 'string' },
  botId: { type: 'string' },
  type: { type: 'string' },
  failureReason: { type: ['string', 'null'] },
  attempts: { type: 'integer', description: 'The number of runs, interrupted runs included.' },
  isReplayable: { type: 'boolean' },
  createdAt: { type: 'string', format: 'date-time' },
  failedAt: { type: 'string', format: 'date-time' },
} as const

const optional = {
  conversationId: { type: 'string' },
  userId: { type: 'string' },
  messageId: { type: 'string' },
} as const

/** A failed event, as lists show it. */
export const failedEventSummary = closedObject(required, optional)

const logLine = closedObject({
  timestamp: { type: 'string', format: 'date-time' },
  level: { type: 'string' },
  message: { type: 'string' },
})

/** A failed event with all details. */
export const failedEvent = closedObject(
  {
    ...required,
    payload: { type: 'object' },
    logs: {
      type: 'array',
      items: logLine,
      description: 'The log of the event’s runs, oldest line first, at most 1,000 lines.',
    },
  },
  optional,
)

/** An event that has ended as failed. */
export type FailedEventRow = EventRow & { ended_at: Date }

/** @param oldest events that failed earlier cannot be replayed, since their journals are deleted */
export function toFailedEventSummary(row: FailedEventRow, oldest: Date): Infer<typeof failedEventSummary> {
  return {
    id: row.id,
    botId: row.bot_id,
    type: row.type,
    failureReason: row.failure_reason,
    attempts: row.attempt,
    ...(row.conversation_id && { conversationId: row.conversation_id }),
    ...(row.user_id && { userId: row.user_id }),
    ...(row.message_id && { messageId: row.message_id }),
    isReplayable: !unreplayable.includes(row.type) && row.ended_at > oldest,
    createdAt: row.created_at.toISOString(),
    failedAt: row.ended_at.toISOString(),
  }
}

export function toFailedEvent(row: FailedEventRow, logs: LogRow[], oldest: Date): Infer<typeof failedEvent> {
  return {
    ...toFailedEventSummary(row, oldest),
    payload: row.payload,
    logs: logs.map((line) => ({
      timestamp: line.created_at.toISOString(),
      level: line.level,
      message: line.message,
    })),
  }
}

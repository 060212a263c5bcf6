import type { LogRow } from './tables.ts'
import { closedObject, type Infer } from '../schema.ts'
export const logLevels = ['debug', 'info', 'warn', 'error'] as const

/** A line of a bot's log. */
export const logLine = closedObject(
  {
    id: { type: 'string', description: 'Distinguishes lines of the same millisecond.' },
    timestamp: { type: 'string', format: 'date-time' },
    level: { enum: logLevels },
    message: { type: 'string' },
  },
  {
    eventId: { type: 'string' },
    conversationId: { type: 'string' },
    userId: { type: 'string' },
    workflowId: { type: 'string' },
  },
)

/** A line of an integration's log. */
export const integrationLogLine = {
  ...logLine,
  required: [...logLine.required, 'botId'],
  properties: { ...logLine.properties, botId: { type: 'string', description: 'The bot for which the code ran.' } },
} as const

export function toLogLine(row: DescribedLogRow): Infer<typeof logLine> {
  return {
    id: row.id,
    timestamp: row.created_at.toISOString(),
    level: row.level,
    message: row.message,
    ...(row.event_id !== null && { eventId: row.event_id }),
    ...(row.conversation_id !== null && { conversationId: row.conversation_id }),
    ...(row.user_id !== null && { userId: row.user_id }),
    ...(row.workflow_id !== null && { workflowId: row.workflow_id }),
  }
}

/** A log line, with the user and the workflow of its event. */
export interface DescribedLogRow extends LogRow {
  user_id: string | null
  workflow_id: string | null
}

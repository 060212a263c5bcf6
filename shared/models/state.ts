import type { StateRow } from './tables.ts'
import { closedObject, type Infer } from '../schema.ts'

export const stateTypes = ['bot', 'user', 'conversation', 'workflow', 'integration'] as const

/** Upper bound of one state, as JSON text. */
export const stateLimit = 128 * 1024

/** Upper bound of a state's expiry, in milliseconds without a read or a write. */
export const longestExpiry = 30 * 24 * 60 * 60 * 1000

/** The name of the conversation state that holds the session, which hooks see as `event.state.session`. */
export const sessionName = 'session'

/** The name of the conversation state that holds the position in the bot's flows. Only the platform writes it. */
export const flowStateName = '$flow'

/** A named JSON object that belongs to a bot, a user, a conversation, a workflow or an installed integration. */
export const state = closedObject(
  {
    id: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
    updatedAt: { type: 'string', format: 'date-time' },
    botId: { type: 'string' },
    name: { type: 'string' },
    type: { enum: stateTypes },
    payload: { type: 'object' },
  },
  {
    conversationId: { type: 'string' },
    userId: { type: 'string' },
    expiry: { type: 'integer' },
    expiresAt: { type: 'string', format: 'date-time' },
  },
)

export type State = Infer<typeof state>

export function toState(row: StateRow): State {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    botId: row.bot_id,
    name: row.name,
    type: row.type,
    payload: row.payload,
    ...(row.type === 'conversation' && { conversationId: row.owner_id }),
    ...(row.type === 'user' && { userId: row.owner_id }),
    ...(row.expiry !== null && { expiry: Number(row.expiry) }),
    ...(row.expires_at && { expiresAt: row.expires_at.toISOString() }),
  }
}

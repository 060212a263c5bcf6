import { closedObject, type Infer } from '../schema.ts'
import type { TokenRow } from './tables.ts'

/** A token of a bot or an integration, as lists show it. */
export const apiKey = closedObject({
  id: { type: 'string' },
  createdAt: { type: 'string', format: 'date-time' },
  note: { type: 'string', maxLength: 200, description: 'The purpose of the token.' },
})

export function toApiKey(row: Pick<TokenRow, 'id' | 'note' | 'created_at'>): Infer<typeof apiKey> {
  return { id: row.id, createdAt: row.created_at.toISOString(), note: row.note }
}

import { closedObject, type Infer } from '../schema.ts'
import type { CannedReplyRow } from './tables.ts'

/** Upper bound of the canned replies of a workspace. */
export const maxCannedReplies = 500

export const shortcut = {
  type: 'string',
  pattern: '^[a-z0-9][a-z0-9_-]{0,49}$',
  description: 'Names the reply; unique in the workspace. Lower-case letters, digits, - and _.',
} as const

export const cannedText = { type: 'string', minLength: 1, maxLength: 4000 } as const

/** A text that members of a workspace answer with repeatedly. */
export const cannedReply = closedObject({
  id: { type: 'string' },
  createdAt: { type: 'string', format: 'date-time' },
  shortcut,
  text: cannedText,
})

export function toCannedReply(row: CannedReplyRow): Infer<typeof cannedReply> {
  return { id: row.id, createdAt: row.created_at.toISOString(), shortcut: row.shortcut, text: row.text }
}

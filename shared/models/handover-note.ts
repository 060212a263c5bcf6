import { closedObject, type Infer } from '../schema.ts'
import type { HandoverNoteRow } from './tables.ts'

/** Upper bound of the notes of a handover. */
export const maxNotes = 200

export const noteText = { type: 'string', minLength: 1, maxLength: 4000 } as const

/** A text that a member wrote about a handover, for other members. */
export const handoverNote = closedObject({
  id: { type: 'string' },
  createdAt: { type: 'string', format: 'date-time' },
  text: noteText,
  author: closedObject(
    { name: { type: 'string' } },
    { id: { type: 'string', description: 'The member’s account; absent when it was deleted.' } },
  ),
})

export function toHandoverNote(row: HandoverNoteRow): Infer<typeof handoverNote> {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    text: row.text,
    author: { name: row.name, ...(row.account_id !== null && { id: row.account_id }) },
  }
}

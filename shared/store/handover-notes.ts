import { ApiError } from '../errors.ts'
import { maxNotes } from '../models/handover-note.ts'
import type { HandoverNoteRow } from '../models/tables.ts'
import type { Database } from './database.ts'
import { page, toPage, type Page, type PageRequest } from './pagination.ts'

/**
 * Adds a note to a handover, whose row the transaction has locked.
 *
 * @throws ApiError `LimitExceeded` when the handover has the maximum of notes
 */
export async function insertNote(
  transaction: Database,
  note: Omit<HandoverNoteRow, 'created_at'>,
): Promise<HandoverNoteRow> {
  const present = await transaction('handover_notes')
    .where({ handover_id: note.handover_id })
    .select('id')
    .limit(maxNotes)
  if (present.length >= maxNotes) {
    throw new ApiError('LimitExceeded', `A handover has at most ${maxNotes} notes: delete one first`, {
      metadata: { limit: maxNotes },
    })
  }
  const [row] = await transaction('handover_notes').insert(note).returning('*')
  if (!row) throw new Error('The inserted note was not returned')
  return row
}

/** One page of a handover's notes, newest first. */
export async function pageOfNotes(
  db: Database,
  handoverId: string,
  request: PageRequest,
): Promise<Page<HandoverNoteRow>> {
  const rows: HandoverNoteRow[] = await db('handover_notes')
    .select('*')
    .where({ handover_id: handoverId })
    .modify((builder) => page(builder, request))
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}

/** @param accountId deletes the note only if this account wrote it. @returns whether it was deleted */
export async function deleteNote(
  db: Database,
  { handoverId, id, accountId }: { handoverId: string; id: string; accountId?: string | undefined },
): Promise<boolean> {
  const count = await db('handover_notes')
    .where({ id, handover_id: handoverId, ...(accountId !== undefined && { account_id: accountId }) })
    .delete()
  return count === 1
}

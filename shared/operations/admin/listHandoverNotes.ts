import { closedObject } from '../../schema.ts'
import { noHandover } from '../../messaging/handovers.ts'
import { handoverNote, toHandoverNote } from '../../models/handover-note.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfNotes } from '../../store/handover-notes.ts'
import { readingInput, readingOutput } from '../../rpc/reading.ts'
import { findHandover } from '../../store/find-handovers.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { findOwnBot } from './find-version.ts'

export const listHandoverNotes = operation({
  name: 'listHandoverNotes',
  description: 'Lists the notes of a handover, the newest first. The audit log has who read them.',
  method: 'GET',
  path: '/v1/admin/bots/{botId}/handovers/{id}/notes',
  access: 'agent',
  stability: 'experimental',
  recordsReading: true,
  errors: ['ResourceNotFound'],
  input: closedObject({ botId: { type: 'string' }, id: { type: 'string' } }, { ...pageInput, ...readingInput }),
  output: closedObject({ notes: { type: 'array', items: handoverNote }, meta: pageMeta }, readingOutput),

  async handle(context, { botId, id, ...paging }) {
    const { db } = context
    await findOwnBot(context, botId)
    if (!(await findHandover(db, botId, id))) throw noHandover(id)
    const found = await pageOfNotes(db, id, pageRequest(paging))
    return { notes: found.rows.map(toHandoverNote), meta: toMeta(found) }
  },
})

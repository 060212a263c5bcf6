import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { noHandover } from '../../messaging/handovers.ts'
import { hasRole } from '../../rpc/caller.ts'
import { operation } from '../../rpc/operation.ts'
import { publishHint } from '../../signals/after-commit.ts'
import { deleteNote } from '../../store/handover-notes.ts'
import { findHandover } from '../../store/find-handovers.ts'
import { findOwnBot } from './find-version.ts'

export const deleteHandoverNote = operation({
  name: 'deleteHandoverNote',
  description: 'Deletes a note that the caller wrote; administrators delete those of all members.',
  method: 'DELETE',
  path: '/v1/admin/bots/{botId}/handovers/{id}/notes/{noteId}',
  access: 'agent',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  input: closedObject({ botId: { type: 'string' }, id: { type: 'string' }, noteId: { type: 'string' } }),
  output: closedObject({}),

  async handle(context, { botId, id, noteId }) {
    const { db, caller } = context
    await findOwnBot(context, botId)
    const handover = await findHandover(db, botId, id)
    if (!handover) throw noHandover(id)
    const accountId = hasRole(caller, 'administrator') ? undefined : caller.accountId
    if (!(await deleteNote(db, { handoverId: id, id: noteId, accountId }))) {
      throw notFound(`Note '${noteId}'`, 'or another member wrote it')
    }
    await publishHint(context, handover.conversation_id)
    return {}
  },
})

import { closedObject } from '../../schema.ts'
import { cannedReply, cannedText, shortcut, toCannedReply } from '../../models/canned-reply.ts'
import { operation } from '../../rpc/operation.ts'
import { updateCannedReply as updateInStore } from '../../store/canned-replies.ts'
import { transact } from '../../store/database.ts'
import { shortcutTaken } from './createCannedReply.ts'
import { noCannedReply } from './deleteCannedReply.ts'

export const updateCannedReply = operation({
  name: 'updateCannedReply',
  description: 'Changes a canned reply of the workspace.',
  method: 'PUT',
  path: '/v1/admin/canned-replies/{id}',
  access: 'agent',
  stability: 'experimental',
  errors: ['ResourceNotFound', 'AlreadyExists'],
  auditedFields: ['shortcut'],
  input: closedObject({ id: { type: 'string' } }, { shortcut, text: cannedText }),
  output: closedObject({ cannedReply }),

  async handle({ db, caller }, { id, ...fields }) {
    const where = { workspaceId: caller.workspaceId, id }
    const row = await transact(db, (transaction) => updateInStore(transaction, where, fields))
    if (!row) throw noCannedReply(id)
    if (row === 'taken') throw shortcutTaken(fields.shortcut ?? '')
    return { cannedReply: toCannedReply(row) }
  },
})

import { ApiError } from '../../errors.ts'
import { closedObject } from '../../schema.ts'
import { newId } from '../../ids.ts'
import { cannedReply, cannedText, shortcut, toCannedReply } from '../../models/canned-reply.ts'
import { operation } from '../../rpc/operation.ts'
import { insertCannedReply } from '../../store/canned-replies.ts'
import { transact } from '../../store/database.ts'

export const createCannedReply = operation({
  name: 'createCannedReply',
  description: 'Creates a text that members of the workspace answer with repeatedly.',
  method: 'POST',
  path: '/v1/admin/canned-replies',
  access: 'agent',
  stability: 'experimental',
  errors: ['AlreadyExists', 'LimitExceeded'],
  auditedFields: ['shortcut'],
  status: 201,
  input: closedObject({ shortcut, text: cannedText }),
  output: closedObject({ cannedReply }),

  async handle({ db, caller }, { shortcut, text }) {
    const reply = { id: newId('reply'), workspace_id: caller.workspaceId, shortcut, text }
    const row = await transact(db, (transaction) => insertCannedReply(transaction, reply))
    if (!row) throw shortcutTaken(shortcut)
    return { cannedReply: toCannedReply(row) }
  },
})

export function shortcutTaken(shortcut: string): ApiError {
  return new ApiError('AlreadyExists', `The workspace has a canned reply '${shortcut}' already`)
}

import { closedObject } from '../../schema.ts'
import { publishEntry } from '../../signals/after-commit.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteMessage as deleteMessageRow } from '../../store/messages.ts'
import { findRuntimeMessage } from '../../store/runtime-messages.ts'
import { externalUserIds } from '../../store/users.ts'
import { noMessage } from './not-found.ts'

export const deleteMessage = operation({
  name: 'deleteMessage',
  description: 'Deletes a message of any author.',
  method: 'DELETE',
  path: '/v1/chat/messages/{id}',
  access: 'bot',
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({}),

  async handle(context, input) {
    const { id } = input
    const { entry, signal } = await once(context, input, async (db) => {
      const row = await findRuntimeMessage(db, context.caller, id)
      if (!row) throw noMessage(id)
      const { conversation_id: conversationId, user_id: userId } = row
      const known = await externalUserIds(db, [userId])
      const data = { id, conversationId, userId: known.get(userId) ?? userId }
      const deletion = { type: 'message_deleted', data } as const
      const recorded = await deleteMessageRow(db, { botId: context.caller.botId, id }, deletion)
      return { entry: recorded ?? null, signal: deletion }
    })
    // A replayed result is plain JSON: `at` is a string.
    if (entry) await publishEntry(context, { ...entry, at: new Date(entry.at) }, signal)
    return {}
  },
})

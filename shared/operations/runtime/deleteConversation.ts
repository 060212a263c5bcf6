import { closedObject } from '../../schema.ts'
import { recordThenDelete } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteConversation as deleteConversationRow } from '../../store/conversations.ts'
import { findScopedConversation } from '../../store/runtime-conversations.ts'
import { noConversation } from './not-found.ts'

export const deleteConversation = operation({
  name: 'deleteConversation',
  description: 'Deletes a conversation with its states, its messages and its waiting events.',
  method: 'DELETE',
  path: '/v1/chat/conversations/{id}',
  access: 'bot',
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({}),

  async handle(context, input) {
    await recordThenDelete(context, input, async (db) => {
      if (!(await findScopedConversation(db, context.caller, input.id))) throw noConversation(input.id)
      await deleteConversationRow(db, context.caller.botId, input.id)
    })
    return {}
  },
})

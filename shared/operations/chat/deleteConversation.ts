import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteConversation as deleteConversationRow } from '../../store/conversations.ts'
import { ownConversation } from './external-ids.ts'

export const deleteConversation = operation({
  name: 'deleteConversation',
  description: 'Deletes a conversation that the caller owns, with its messages. Its id can be used again.',
  method: 'DELETE',
  path: '/chat/{webhookId}/conversations/{id}',
  access: 'user',
  errors: ['Forbidden'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({}),

  async handle(context, { id }) {
    const conversation = await ownConversation(context, id)
    await deleteConversationRow(context.db, conversation.bot_id, conversation.id)
    return {}
  },
})

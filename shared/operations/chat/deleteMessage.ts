import { closedObject } from '../../schema.ts'
import { publishEntry } from '../../signals/after-commit.ts'
import { ApiError, notFound } from '../../errors.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteMessage as deleteMessageRow, findAuthoredMessage } from '../../store/messages.ts'
import { presentUser } from './external-ids.ts'

export const deleteMessage = operation({
  name: 'deleteMessage',
  description: 'Deletes a message of the caller.',
  method: 'DELETE',
  path: '/chat/{webhookId}/messages/{id}',
  access: 'user',
  errors: ['Forbidden'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({}),

  async handle(context, { id }) {
    const { db, caller } = context
    const { installation, externalId, key } = caller
    const message = await findAuthoredMessage(db, { installationId: installation.id, id, key })
    if (!message) throw notFound(`Message '${id}'`)
    if (!message.is_author) {
      await presentUser(context)
      throw new ApiError('Forbidden', 'Only the author of a message may delete it')
    }
    const data = { id, conversationId: message.conversation_id, userId: externalId }
    const signal = { type: 'message_deleted', data } as const
    const entry = await deleteMessageRow(db, { botId: installation.bot_id, id }, signal)
    if (entry) await publishEntry(context, entry, signal)
    return {}
  },
})

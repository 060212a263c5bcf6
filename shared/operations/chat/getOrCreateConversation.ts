import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { conversation, toConversation } from '../../models/conversation.ts'
import { insertChatConversation } from '../../messaging/insert-chat-conversation.ts'
import { operation } from '../../rpc/operation.ts'
import { assertExternalId, externalId, findConversationWithMembership, presentUser } from './external-ids.ts'

export const getOrCreateConversation = operation({
  name: 'getOrCreateConversation',
  description: 'Returns the caller’s conversation with the given id; creates it if it does not exist.',
  method: 'POST',
  path: '/chat/{webhookId}/conversations/get-or-create',
  access: 'user',
  errors: ['Forbidden'],
  status: 201,
  input: closedObject({ id: { type: 'string', description: externalId.description } }),
  output: closedObject({ conversation }),

  async handle(context, { id }) {
    const { id: ownerId } = await presentUser(context)
    const existing = await findConversationWithMembership(context, id)
    if (!existing) assertExternalId(id)
    const row =
      existing ??
      (await insertChatConversation(context, { externalId: id, ownerId, tags: { owner: ownerId } })) ??
      (await findConversationWithMembership(context, id))
    if (row?.owner_id !== ownerId) {
      throw new ApiError('Forbidden', `The conversation '${id}' belongs to another user: choose another id`)
    }
    return { conversation: toConversation(row, id) }
  },
})

import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { conversation, toConversation } from '../../models/conversation.ts'
import { insertChatConversation } from '../../messaging/insert-chat-conversation.ts'
import { operation } from '../../rpc/operation.ts'
import { assertExternalId, externalId, presentUser } from './external-ids.ts'

export const createConversation = operation({
  name: 'createConversation',
  description: 'Creates a conversation. The caller is its owner and first participant.',
  method: 'POST',
  path: '/chat/{webhookId}/conversations',
  access: 'user',
  errors: ['AlreadyExists'],
  status: 201,
  input: closedObject({}, { id: externalId }),
  output: closedObject({ conversation }),

  async handle(context, { id }) {
    if (id !== undefined) assertExternalId(id)
    const { id: ownerId } = await presentUser(context)
    const row = await insertChatConversation(context, {
      ownerId,
      tags: { owner: ownerId, ...(id && { fid: id }) },
      ...(id && { externalId: id }),
    })
    if (!row) throw new ApiError('AlreadyExists', `Conversation '${id}' already exists: choose another id`)
    return { conversation: toConversation(row) }
  },
})

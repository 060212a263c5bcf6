import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { conversation, toConversation } from '../../models/conversation.ts'
import { operation } from '../../rpc/operation.ts'
import { insertConversation } from '../../store/conversations.ts'
import { assertExternalId, externalId, presentUser } from './external-ids.ts'

/** The one channel of the chat integration. */
export const chatChannel = 'channel'

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
    const { db, caller } = context
    if (id !== undefined) assertExternalId(id)
    const { id: ownerId } = await presentUser(context)
    const row = await insertConversation(db, {
      id: newId('conv'),
      botId: caller.installation.bot_id,
      installationId: caller.installation.id,
      ownerId,
      channel: chatChannel,
      tags: { owner: ownerId, ...(id && { fid: id }) },
      ...(id && { externalId: id }),
    })
    if (!row) throw new ApiError('AlreadyExists', `Conversation '${id}' already exists: choose another id`)
    return { conversation: toConversation(row) }
  },
})

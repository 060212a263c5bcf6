import { tellListeners, wakeWorker } from '../../after-commit.ts'
import { newId } from '../../ids.ts'
import { messageCreated } from '../../models/event.ts'
import { message, toMessage } from '../../models/message.ts'
import { chatPayload, toContent } from '../../models/payload.ts'
import { operation } from '../../operation.ts'
import { toLogEntry } from '../../store/conversation-log.ts'
import { storeIncoming } from '../../store/messages-together.ts'
import { notParticipating } from './known.ts'

export const createMessage = operation({
  name: 'createMessage',
  description: 'Says something in a conversation that the caller takes part in.',
  method: 'POST',
  path: '/chat/{webhookId}/messages',
  access: 'user',
  status: 201,
  input: {
    type: 'object',
    additionalProperties: false,
    required: ['conversationId', 'payload'],
    properties: { conversationId: { type: 'string' }, payload: chatPayload, metadata: { type: 'object' } },
  },
  output: { type: 'object', additionalProperties: false, required: ['message'], properties: { message } },

  async handle(context, { conversationId, payload, metadata }) {
    const { db, caller } = context
    const { installation, knownId } = caller
    const row = await storeIncoming(db, {
      id: newId('msg'),
      botId: installation.bot_id,
      installationId: installation.id,
      knownConversationId: conversationId,
      knownUserId: knownId,
      ...toContent(payload),
      ...(metadata && { metadata }),
      event: { id: newId('evt'), type: messageCreated, integration: installation.integration },
    })
    if (!row) throw notParticipating()
    const created = toMessage(row, { conversationId, userId: knownId })
    // The user's own signal goes out before the bot is woken, so that no reply overtakes it.
    await tellListeners(context, toLogEntry(row), { type: 'message_created', data: { ...created, isBot: false } })
    await wakeWorker(context, 'message', row.conversation_id)
    return { message: created }
  },
})

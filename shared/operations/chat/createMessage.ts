import { closedObject } from '../../schema.ts'
import { publishEntry, wakeWorker } from '../../signals/after-commit.ts'
import { newId } from '../../ids.ts'
import { messageCreated } from '../../models/event.ts'
import { message, toMessage } from '../../models/message.ts'
import { chatPayload, toContent } from '../../models/payload.ts'
import { operation } from '../../rpc/operation.ts'
import { toLogEntry } from '../../store/conversation-log.ts'
import { storeIncoming } from '../../store/message-batches.ts'
import { notParticipating } from './external-ids.ts'

export const createMessage = operation({
  name: 'createMessage',
  description: 'Creates a message in a conversation of the caller.',
  method: 'POST',
  path: '/chat/{webhookId}/messages',
  access: 'user',
  stability: 'documented',
  errors: ['Forbidden'],
  status: 201,
  input: closedObject({ conversationId: { type: 'string' }, payload: chatPayload }, { metadata: { type: 'object' } }),
  output: closedObject({ message }),

  async handle(context, { conversationId, payload, metadata }) {
    const { db, caller } = context
    const { installation, externalId, key } = caller
    const incoming = {
      id: newId('msg'),
      botId: installation.bot_id,
      installationId: installation.id,
      externalConversationId: conversationId,
      ...key,
      ...toContent(payload),
      ...(metadata && { metadata }),
      event: { id: newId('evt'), type: messageCreated, integration: installation.integration },
    }
    const row = await context.waiting.admit(db, incoming.botId, () => storeIncoming(db, incoming))
    if (!row) throw await notParticipating(context)
    const created = toMessage(row, { conversationId, userId: externalId })
    // If a reply overtakes the user's own signal, listeners detect the gap by `sequence` and read the log.
    await Promise.all([
      publishEntry(context, toLogEntry(row), { type: 'message_created', data: { ...created, isBot: false } }),
      wakeWorker(context, 'message', row.conversation_id, row.bot_id),
    ])
    return { message: created }
  },
})

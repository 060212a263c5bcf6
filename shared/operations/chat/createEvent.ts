import { closedObject } from '../../schema.ts'
import { publishEntry, wakeWorker } from '../../signals/after-commit.ts'
import { newId } from '../../ids.ts'
import { chatCustom, chatEvent, toChatEvent } from '../../models/event.ts'
import { operation } from '../../rpc/operation.ts'
import { toLogEntry } from '../../store/conversation-log.ts'
import { insertChatEvent } from '../../store/events.ts'
import { joinedConversation, notParticipating } from './external-ids.ts'

export const createEvent = operation({
  name: 'createEvent',
  description: 'Creates a custom event in a conversation of the caller.',
  method: 'POST',
  path: '/chat/{webhookId}/events',
  access: 'user',
  stability: 'documented',
  errors: ['Forbidden'],
  status: 201,
  input: closedObject({ conversationId: { type: 'string' }, payload: { type: 'object' } }),
  output: closedObject({ event: chatEvent }),

  async handle(context, { conversationId, payload }) {
    const { db, caller } = context
    const conversation = await joinedConversation(context, conversationId)
    const event = {
      id: newId('evt'),
      botId: conversation.bot_id,
      conversationId: conversation.id,
      userId: conversation.participant_id,
      integration: caller.installation.integration,
      type: chatCustom,
      payload,
    }
    const row = await context.waiting.admit(db, event.botId, () => insertChatEvent(db, event))
    if (!row) throw await notParticipating(context)
    const created = toChatEvent(row, { conversationId, userId: caller.externalId })
    await publishEntry(context, toLogEntry(row), { type: 'event_created', data: { ...created, isBot: false } })
    await wakeWorker(context, 'event', conversation.id, conversation.bot_id)
    return { event: created }
  },
})

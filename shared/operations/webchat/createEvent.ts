import { closedObject } from '../../schema.ts'
import { newId } from '../../ids.ts'
import { webchatTrigger } from '../../models/event.ts'
import { operation } from '../../rpc/operation.ts'
import { wakeWorker } from '../../signals/after-commit.ts'
import { insertConversationEvent } from '../../store/events.ts'
import { insertStartedOnce } from '../../store/webchat.ts'
import { joinedConversation, notParticipating } from '../chat/external-ids.ts'

const payload = {
  type: 'object',
  required: ['type'],
  properties: { type: { enum: ['conversation_started', 'custom'] }, data: { type: 'object' } },
} as const

export const createEvent = operation({
  name: 'createEvent',
  description:
    'Tells the bot that the visitor has opened the conversation, once for each, as `webchat:conversationStarted`; or an ' +
    'event of the page, as `webchat:trigger`.',
  method: 'POST',
  path: '/webchat/{webhookId}/events',
  access: 'user',
  errors: ['Forbidden'],
  status: 201,
  input: closedObject({ conversationId: { type: 'string' }, payload }),
  output: closedObject({
    event: closedObject({
      id: { type: 'string' },
      createdAt: { type: 'string', format: 'date-time' },
      conversationId: { type: 'string' },
      userId: { type: 'string' },
      payload: { type: 'object' },
    }),
  }),

  async handle(context, { conversationId, payload: { type, data = {} } }) {
    const { db, waiting, caller } = context
    const conversation = await joinedConversation(context, conversationId)
    const { bot_id: botId, participant_id: userId } = conversation
    const event = { id: newId('evt'), botId, conversationId, userId, integration: caller.installation.integration }
    const isStart = type === 'conversation_started'
    const trigger = { origin: 'website', userId, conversationId, payload: data }
    const row = await waiting.admit(db, botId, () =>
      isStart
        ? insertStartedOnce(db, event)
        : insertConversationEvent(db, { ...event, type: webchatTrigger, payload: trigger }),
    )
    if (row) await wakeWorker(context, 'event', conversationId, botId)
    else if (!isStart) throw await notParticipating(context)
    return {
      event: {
        id: event.id,
        createdAt: (row?.created_at ?? new Date()).toISOString(),
        conversationId,
        userId: caller.externalId,
        payload: { type, data: isStart ? { ...data, status: { isInitial: row !== undefined } } : data },
      },
    }
  },
})

import { wakeWorker } from '../../after-commit.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { once } from '../../journal.ts'
import { actionTriggered, chatCustom, messageCreated, runtimeEvent, toRuntimeEvent } from '../../models/event.ts'
import { operation } from '../../operation.ts'
import { insertConversationEvent, insertEvent } from '../../store/events.ts'

export const createEvent = operation({
  name: 'createEvent',
  description: 'Creates an event for the bot to handle, in a conversation when it is given.',
  method: 'POST',
  path: '/v1/chat/events',
  access: 'bot',
  status: 201,
  input: {
    type: 'object',
    additionalProperties: false,
    required: ['type', 'payload'],
    properties: {
      // The platform makes these itself, with what belongs to them.
      type: {
        type: 'string',
        minLength: 1,
        maxLength: 200,
        not: { enum: [messageCreated, chatCustom, actionTriggered] },
      },
      payload: { type: 'object' },
      conversationId: { type: 'string' },
      userId: { type: 'string' },
      messageId: { type: 'string' },
    },
  },
  output: { type: 'object', additionalProperties: false, required: ['event'], properties: { event: runtimeEvent } },

  async handle(context, input) {
    const { type, payload, conversationId, userId, messageId } = input
    const created = await once(context, input, async (db) => {
      const event = {
        id: newId('evt'),
        botId: context.caller.botId,
        type,
        payload,
        ...(userId && { userId }),
        ...(messageId && { messageId }),
      }
      if (!conversationId) return toRuntimeEvent(await insertEvent(db, event))
      const row = await insertConversationEvent(db, { ...event, conversationId })
      if (!row) throw new ApiError('ReferenceNotFound', `The bot has no conversation '${conversationId}'`)
      return toRuntimeEvent(row)
    })
    await wakeWorker(context, 'event', created.conversationId ?? created.id)
    return { event: created }
  },
})

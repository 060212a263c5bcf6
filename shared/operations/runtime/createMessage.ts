import { closedObject } from '../../schema.ts'
import {
  admitMessage,
  announcedByStatement,
  announceMessage,
  noSuchConversation,
  prepareMessage,
  toDeletedMessage,
} from '../../messaging/create-message.ts'
import { newId } from '../../ids.ts'
import { onceStored } from '../../rpc/journal.ts'
import { runtimeMessage, toRuntimeMessage } from '../../models/message.ts'
import { tagsInput } from '../../models/tags.ts'
import { operation } from '../../rpc/operation.ts'
import { scheduleInput } from '../../messaging/schedule.ts'
import { scheduleMessage } from '../../messaging/schedule-message.ts'
import { findMessage } from '../../store/messages.ts'
import type { MessageRow } from '../../models/tables.ts'

/** The fields of a new message. */
export const messageInput = {
  conversationId: { type: 'string' },
  type: { type: 'string', minLength: 1, maxLength: 200 },
  payload: { type: 'object' },
  userId: { type: 'string', description: 'The author; default: the bot.' },
  tags: tagsInput,
  origin: { enum: ['synthetic'] },
} as const

export const createMessage = operation({
  name: 'createMessage',
  description: 'Creates a message of the bot in a conversation, or a message that an integration has received.',
  method: 'POST',
  path: '/v1/chat/messages',
  access: 'bot',
  errors: ['ReferenceNotFound', 'RateLimited'],
  status: 201,
  input: {
    type: 'object',
    additionalProperties: false,
    required: ['conversationId', 'type', 'payload'],
    properties: { ...messageInput, schedule: scheduleInput },
  },
  output: closedObject({ message: runtimeMessage }),

  async handle(context, input) {
    const { schedule, ...given } = input
    if (schedule) return { message: await scheduleMessage(context, input, given, schedule) }
    const id = newId('msg')
    const stored = await onceStored<MessageRow>(context, input, {
      id,
      async insert(effect) {
        const ready = await prepareMessage(context, given, id)
        return admitMessage(context, announcedByStatement(context, ready), effect)
      },
      find: (recorded) => findMessage(context.db, context.caller.botId, recorded),
    })
    if (!stored) throw noSuchConversation(given.conversationId)
    const { row } = stored
    if (row) await announceMessage(context, row)
    return { message: toRuntimeMessage(row ?? toDeletedMessage(context, stored.id, given), context.caller) }
  },
})

import { closedObject } from '../../schema.ts'
import { createConversation as create, wakeForStart } from '../../messaging/get-or-create.ts'
import { once } from '../../rpc/journal.ts'
import { runtimeConversation, toRuntimeConversation } from '../../models/conversation.ts'
import { tagsInput } from '../../models/tags.ts'
import { operation } from '../../rpc/operation.ts'

/** The fields of a new conversation. */
export const conversationInput = {
  channel: { type: 'string', minLength: 1, maxLength: 200 },
  tags: tagsInput,
  properties: tagsInput,
  integrationName: { type: 'string', description: 'For bots: the integration of the conversation; default: the chat.' },
} as const

export const createConversation = operation({
  name: 'createConversation',
  description: 'Creates a conversation of the calling integration, or of the integration that a bot names.',
  method: 'POST',
  path: '/v1/chat/conversations',
  access: 'bot',
  errors: ['ReferenceNotFound'],
  status: 201,
  input: { type: 'object', additionalProperties: false, required: ['channel'], properties: conversationInput },
  output: closedObject({ conversation: runtimeConversation }),

  async handle(context, input) {
    let hasEvent: boolean | undefined
    const conversation = await once(context, input, async (db) => {
      const row = await create(context, db, input)
      hasEvent = row.has_started_event
      return toRuntimeConversation(row, context.caller)
    })
    await wakeForStart(context, conversation.id, hasEvent)
    return { conversation }
  },
})

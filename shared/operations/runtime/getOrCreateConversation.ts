import { closedObject } from '../../schema.ts'
import { createdMeta, getOrCreateConversation as getOrCreate, wakeForStart } from '../../messaging/get-or-create.ts'
import { once } from '../../rpc/journal.ts'
import { runtimeConversation, toRuntimeConversation } from '../../models/conversation.ts'
import { changedTags, discriminateByTags } from '../../models/tags.ts'
import { operation } from '../../rpc/operation.ts'
import { conversationInput } from './createConversation.ts'

export const getOrCreateConversation = operation({
  name: 'getOrCreateConversation',
  description: 'Returns the conversation of a channel with these tags; creates it if it does not exist.',
  method: 'POST',
  path: '/v1/chat/conversations/get-or-create',
  access: 'bot',
  errors: ['ReferenceNotFound'],
  input: {
    type: 'object',
    additionalProperties: false,
    required: ['channel'],
    properties: { ...conversationInput, tags: changedTags, properties: changedTags, discriminateByTags },
  },
  output: closedObject({ conversation: runtimeConversation, meta: createdMeta }),

  async handle(context, input) {
    let hasEvent: boolean | undefined
    const got = await once(context, input, async (db) => {
      const { row, created } = await getOrCreate(context, db, input)
      hasEvent = row.has_started_event ?? false
      return { conversation: toRuntimeConversation(row, context.caller), meta: { created } }
    })
    await wakeForStart(context, got.conversation.id, got.meta.created ? hasEvent : false)
    return got
  },
})

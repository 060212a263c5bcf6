import { closedObject } from '../../schema.ts'
import { once } from '../../rpc/journal.ts'
import { runtimeConversation, toRuntimeConversation } from '../../models/conversation.ts'
import { changedTags, toChange } from '../../models/tags.ts'
import { operation } from '../../rpc/operation.ts'
import { updateRuntimeConversation } from '../../store/runtime-conversations.ts'
import { noConversation } from './not-found.ts'

export const updateConversation = operation({
  name: 'updateConversation',
  description: 'Changes a conversation’s tags and properties; null removes one.',
  method: 'PUT',
  path: '/v1/chat/conversations/{id}',
  access: 'bot',
  input: closedObject({ id: { type: 'string' } }, { tags: changedTags, properties: changedTags }),
  output: closedObject({ conversation: runtimeConversation }),

  async handle(context, input) {
    const { caller } = context
    const change = { tags: toChange(caller, input.tags), properties: toChange({}, input.properties) }
    return {
      conversation: await once(context, input, async (db) => {
        const row = await updateRuntimeConversation(db, caller, input.id, change)
        if (!row) throw noConversation(input.id)
        return toRuntimeConversation(row, caller)
      }),
    }
  },
})

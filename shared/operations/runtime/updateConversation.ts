import { closedObject } from '../../schema.ts'
import { once } from '../../rpc/journal.ts'
import { runtimeConversation, toRuntimeConversation } from '../../models/conversation.ts'
import { changedTags, toChange } from '../../models/tags.ts'
import { operation } from '../../rpc/operation.ts'
import { conversationUpdated } from '../../models/event.ts'
import type { ConversationRow } from '../../models/tables.ts'
import { wakeWorker } from '../../signals/after-commit.ts'
import { deliveryMailbox } from '../../store/messages.ts'
import { insertUpdateEvent } from '../../store/update-events.ts'
import { findScopedConversation, updateRuntimeConversation } from '../../store/runtime-conversations.ts'
import { noConversation } from './not-found.ts'

/** The columns of a conversation that may change. */
function changeable({ tags, properties, updated_at }: ConversationRow) {
  return { tags, properties, updated_at }
}

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
    const { botId, installation } = caller
    // A change by the integration itself is nothing new to it. A repeated call does not tell whether there is an event.
    let isTold = installation === undefined
    const conversation = await once(context, input, async (db) => {
      const former = await findScopedConversation(db, caller, input.id)
      const row = former && (await updateRuntimeConversation(db, caller, input.id, change))
      if (!row) throw noConversation(input.id)
      const payload = { previous: changeable(former), current: changeable(row) }
      isTold &&= await insertUpdateEvent(db, { botId, conversationId: row.id, type: conversationUpdated, payload })
      return toRuntimeConversation(row, caller)
    })
    if (isTold) await wakeWorker(context, 'message', deliveryMailbox(conversation.id), botId)
    return { conversation }
  },
})

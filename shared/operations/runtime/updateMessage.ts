import { closedObject } from '../../schema.ts'
import { assertReadable, toStoredContent } from '../../messaging/create-message.ts'
import { once } from '../../rpc/journal.ts'
import { messageUpdated } from '../../models/event.ts'
import type { MessageRow } from '../../models/tables.ts'
import { publishHint, wakeWorker } from '../../signals/after-commit.ts'
import { recordSignal } from '../../store/conversation-log.ts'
import { deliveryMailbox } from '../../store/messages.ts'
import { insertUpdateEvent } from '../../store/update-events.ts'
import { runtimeMessage, toRuntimeMessage } from '../../models/message.ts'
import { changedTags, toChange } from '../../models/tags.ts'
import { operation } from '../../rpc/operation.ts'
import { findRuntimeMessage, updateRuntimeMessage } from '../../store/runtime-messages.ts'
import { noMessage } from './not-found.ts'

/** The columns of a message that may change. */
function changeable({ payload, metadata, tags, updated_at }: MessageRow) {
  return { payload, metadata, tags, updated_at }
}

export const updateMessage = operation({
  name: 'updateMessage',
  description:
    'Changes a message’s tags, and replaces its payload if given. Listeners of the conversation get a new payload as `message_updated`.',
  method: 'PUT',
  path: '/v1/chat/messages/{id}',
  access: 'bot',
  input: closedObject({ id: { type: 'string' } }, { tags: changedTags, payload: { type: 'object' } }),
  output: closedObject({ message: runtimeMessage }),

  async handle(context, input) {
    const { caller } = context
    const { id, tags, payload } = input
    const content = payload && toStoredContent(payload)
    // A change by the integration itself is nothing new to it. A repeated call does not tell whether there is an event.
    let isTold = caller.installation === undefined
    let hasWebhook: boolean | undefined
    const message = await once(context, input, async (db) => {
      const row = await findRuntimeMessage(db, caller, id)
      if (!row) throw noMessage(id)
      if (content)
        await assertReadable({ ...context, db }, row.conversation_id, { type: row.type, payload: content.payload })
      const where = { botId: caller.botId, id }
      const changed = await updateRuntimeMessage(db, where, { tags: toChange(caller, tags), content })
      if (!changed) throw noMessage(id)
      const payload = { previous: changeable(row), current: changeable(changed) }
      const { bot_id: botId, conversation_id: conversationId } = row
      const update = { botId, conversationId, messageId: id, type: messageUpdated, payload } as const
      isTold &&= await insertUpdateEvent(db, update)
      if (content) {
        const data = { id, conversationId }
        hasWebhook = (await recordSignal(db, { botId, conversationId }, { type: 'message_updated', data }))?.hasWebhook
      }
      return toRuntimeMessage(changed, caller)
    })
    if (isTold) await wakeWorker(context, 'message', deliveryMailbox(message.conversationId), caller.botId)
    if (content) await publishHint(context, message.conversationId)
    if (hasWebhook) await wakeWorker(context, 'webhook', message.conversationId, caller.botId)
    return { message }
  },
})

import { closedObject } from '../../schema.ts'
import { assertReadable, toStoredContent } from '../../messaging/create-message.ts'
import { once } from '../../rpc/journal.ts'
import { runtimeMessage, toRuntimeMessage } from '../../models/message.ts'
import { changedTags, toChange } from '../../models/tags.ts'
import { operation } from '../../rpc/operation.ts'
import { findRuntimeMessage, updateRuntimeMessage } from '../../store/runtime-messages.ts'
import { noMessage } from './not-found.ts'

export const updateMessage = operation({
  name: 'updateMessage',
  description: 'Changes a message’s tags, and replaces its payload if given. Listeners get no entry.',
  method: 'PUT',
  path: '/v1/chat/messages/{id}',
  access: 'bot',
  input: closedObject({ id: { type: 'string' } }, { tags: changedTags, payload: { type: 'object' } }),
  output: closedObject({ message: runtimeMessage }),

  async handle(context, input) {
    const { caller } = context
    const { id, tags, payload } = input
    const content = payload && toStoredContent(payload)
    return {
      message: await once(context, input, async (db) => {
        const row = await findRuntimeMessage(db, caller, id)
        if (!row) throw noMessage(id)
        if (content)
          await assertReadable({ ...context, db }, row.conversation_id, { type: row.type, payload: content.payload })
        const where = { botId: caller.botId, id }
        const changed = await updateRuntimeMessage(db, where, { tags: toChange(caller, tags), content })
        if (!changed) throw noMessage(id)
        return toRuntimeMessage(changed, caller)
      }),
    }
  },
})

import { closedObject } from '../../schema.ts'
import { announceMessage } from '../../messaging/create-message.ts'
import { createdMeta } from '../../messaging/get-or-create.ts'
import { getOrCreateMessage as getOrCreate } from '../../messaging/get-or-create-message.ts'
import { scheduleInput } from '../../messaging/schedule.ts'
import { once } from '../../rpc/journal.ts'
import { runtimeMessage, toRuntimeMessage, type RuntimeMessage } from '../../models/message.ts'
import { changedTags, discriminateByTags } from '../../models/tags.ts'
import { operation } from '../../rpc/operation.ts'
import { findMessage } from '../../store/messages.ts'
import type { MessageRow } from '../../models/tables.ts'
import { messageInput } from './createMessage.ts'
import { noMessage } from './not-found.ts'

export const getOrCreateMessage = operation({
  name: 'getOrCreateMessage',
  description: 'Returns a conversation’s message with these tags; creates or schedules it if it does not exist.',
  method: 'POST',
  path: '/v1/chat/messages/get-or-create',
  access: 'bot',
  errors: ['ReferenceNotFound', 'RateLimited'],
  input: {
    type: 'object',
    additionalProperties: false,
    required: ['conversationId', 'type'],
    properties: { ...messageInput, tags: changedTags, discriminateByTags, schedule: scheduleInput },
  },
  output: closedObject({ message: runtimeMessage, meta: createdMeta }),

  async handle(context, input) {
    let stored: MessageRow | undefined
    const {
      id,
      created,
      future,
      message = future,
    } = await once<Got>(context, input, async (db) => {
      const { row, created, isFuture } = await getOrCreate(context, db, input)
      stored = row
      const shown = toRuntimeMessage(row, context.caller)
      return { id: row.id, created, ...(isFuture ? { future: shown } : { message: shown }) }
    })
    if (message && (future || !created)) return { message, meta: { created } }
    const row = stored ?? (await findMessage(context.db, context.caller.botId, id))
    if (row && created) await announceMessage(context, row)
    if (message) return { message, meta: { created } }
    // Calls that an earlier version of the platform has recorded have no message.
    if (!row) throw noMessage(id)
    return { message: toRuntimeMessage(row, context.caller), meta: { created } }
  },
})

interface Got {
  id: string
  created: boolean
  /** Present unless it is stored at a later time. */
  message?: RuntimeMessage
  future?: RuntimeMessage
}

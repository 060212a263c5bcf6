import { closedObject } from '../../schema.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { filterInput } from '../../store/listing.ts'
import { runtimeMessage, toRuntimeMessage } from '../../models/message.ts'
import { toStoredTags } from '../../models/tags.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfRuntimeMessages } from '../../store/runtime-messages.ts'

export const listMessages = operation({
  name: 'listMessages',
  description: 'Lists the bot’s messages, newest first; with conversationId, those of one conversation.',
  method: 'GET',
  path: '/v1/chat/messages',
  access: 'bot',
  input: closedObject({}, { ...pageInput, ...filterInput, conversationId: { type: 'string' } }),
  output: closedObject({ messages: { type: 'array', items: runtimeMessage }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    const filters = { ...input, tags: toStoredTags(caller, input.tags) }
    const page = await pageOfRuntimeMessages(db, caller, filters, pageRequest(input))
    return { messages: page.rows.map((row) => toRuntimeMessage(row, caller)), meta: toMeta(page) }
  },
})

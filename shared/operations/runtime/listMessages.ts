import { pageInput, pageMeta, pageRequest, toMeta } from '../../cursor.ts'
import { runtimeMessage, toRuntimeMessage } from '../../models/message.ts'
import { operation } from '../../operation.ts'
import { pageOfMessages } from '../../store/messages.ts'

export const listMessages = operation({
  name: 'listMessages',
  description: 'Lists the bot’s messages, newest first; those of one conversation when it is given.',
  method: 'GET',
  path: '/v1/chat/messages',
  access: 'bot',
  input: {
    type: 'object',
    additionalProperties: false,
    properties: { conversationId: { type: 'string' }, ...pageInput },
  },
  output: {
    type: 'object',
    additionalProperties: false,
    required: ['messages', 'meta'],
    properties: { messages: { type: 'array', items: runtimeMessage }, meta: pageMeta },
  },

  async handle({ db, caller }, input) {
    const where = { botId: caller.botId, ...(input.conversationId && { conversationId: input.conversationId }) }
    const page = await pageOfMessages(db, where, pageRequest(input))
    return { messages: page.rows.map(toRuntimeMessage), meta: toMeta(page) }
  },
})

import { ApiError } from '../../errors.ts'
import { runtimeConversation, toRuntimeConversation } from '../../models/conversation.ts'
import { operation } from '../../operation.ts'
import { findConversation } from '../../store/conversations.ts'

export const getConversation = operation({
  name: 'getConversation',
  description: 'Gives one of the bot’s conversations.',
  method: 'GET',
  path: '/v1/chat/conversations/{id}',
  access: 'bot',
  input: { type: 'object', additionalProperties: false, required: ['id'], properties: { id: { type: 'string' } } },
  output: {
    type: 'object',
    additionalProperties: false,
    required: ['conversation'],
    properties: { conversation: runtimeConversation },
  },

  async handle({ db, caller }, { id }) {
    const row = await findConversation(db, caller.botId, id)
    if (!row) throw new ApiError('ResourceNotFound', `The bot has no conversation '${id}'`)
    return { conversation: toRuntimeConversation(row) }
  },
})

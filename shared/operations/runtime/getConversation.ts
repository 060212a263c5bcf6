import { closedObject } from '../../schema.ts'
import { runtimeConversation, toRuntimeConversation } from '../../models/conversation.ts'
import { operation } from '../../rpc/operation.ts'
import { findRuntimeConversation } from '../../store/runtime-conversations.ts'
import { noConversation } from './not-found.ts'

export const getConversation = operation({
  name: 'getConversation',
  description: 'Returns one of the bot’s conversations.',
  method: 'GET',
  path: '/v1/chat/conversations/{id}',
  access: 'bot',
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({ conversation: runtimeConversation }),

  async handle({ db, caller }, { id }) {
    const row = await findRuntimeConversation(db, caller, id)
    if (!row) throw noConversation(id)
    return { conversation: toRuntimeConversation(row, caller) }
  },
})

import { closedObject } from '../../schema.ts'
import { runtimeMessage, toRuntimeMessage } from '../../models/message.ts'
import { operation } from '../../rpc/operation.ts'
import { findRuntimeMessage } from '../../store/runtime-messages.ts'
import { noMessage } from './not-found.ts'

export const getMessage = operation({
  name: 'getMessage',
  description: 'Returns one of the bot’s messages, incoming or outgoing.',
  method: 'GET',
  path: '/v1/chat/messages/{id}',
  access: 'bot',
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({ message: runtimeMessage }),

  async handle({ db, caller }, { id }) {
    const row = await findRuntimeMessage(db, caller, id)
    if (!row) throw noMessage(id)
    return { message: toRuntimeMessage(row, caller) }
  },
})

import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { assertOpen, converse } from '../../messaging/converse.ts'
import { converseInput, responses } from '../../models/converse.ts'
import { operation } from '../../rpc/operation.ts'
import { failedToHandle } from './failed-to-handle.ts'

export const sendMessage = operation({
  name: 'sendMessage',
  description:
    'Sends the bot a text of a user, waits until the bot has handled it, and returns its messages. For clients of v12; ' +
    'only where the configuration of the bot’s chat has `converse: "public"`.',
  method: 'POST',
  path: '/api/v1/bots/{botId}/converse/{userId}',
  access: 'visitor',
  stability: 'experimental',
  errors: ['Forbidden', 'Runtime', 'OperationTimeout'],
  awaitsWorker: true,
  queryFields: ['include'],
  input: closedObject(
    { ...converseInput, text: { type: 'string', minLength: 1 } },
    {
      type: { enum: ['text'] },
      metadata: { type: 'object', description: 'For the bot, as `event.payload.metadata`.' },
      includedContexts: { type: 'array', items: { type: 'string' }, description: 'Without effect.' },
      include: { type: 'string', description: 'Only `responses`, as without it.' },
    },
  ),
  output: closedObject({ responses }),

  async handle(context, { userId, text, metadata, include = 'responses' }) {
    const { installation } = context.caller
    assertOpen(installation, 'public')
    if (include.toLowerCase() !== 'responses') {
      throw new ApiError('Forbidden', 'Without a token, include can only be "responses": send the request to …/secured')
    }
    const payload = { type: 'text', text } as const
    const done = await converse(context, { installation, userId, payload, metadata })
    // The reason of a failure is the author's, and callers are unknown.
    if (done.event.status === 'failed') throw failedToHandle(done)
    return { responses: done.responses }
  },
})

import { operation } from '../../rpc/operation.ts'

export const hello = operation({
  name: 'hello',
  description: 'Tells that the address is that of a chat installation.',
  method: 'GET',
  path: '/chat/{webhookId}/hello',
  access: 'visitor',
  input: { type: 'object', additionalProperties: false, properties: {} },
  output: {
    type: 'object',
    additionalProperties: false,
    required: ['message'],
    properties: { message: { type: 'string' } },
  },

  async handle() {
    return { message: 'Hello' }
  },
})

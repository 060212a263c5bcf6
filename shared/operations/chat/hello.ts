import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'

export const hello = operation({
  name: 'hello',
  description: 'Confirms that the URL is that of a chat installation.',
  method: 'GET',
  path: '/chat/{webhookId}/hello',
  access: 'visitor',
  input: closedObject({}),
  output: closedObject({ message: { type: 'string' } }),

  async handle() {
    return { message: 'Hello' }
  },
})

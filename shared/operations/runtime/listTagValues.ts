import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { operation } from '../../rpc/operation.ts'

export const listTagValues = operation({
  name: 'listTagValues',
  description: 'Always fails: the values of a tag can no longer be listed. It exists for published clients.',
  method: 'GET',
  path: '/v1/chat/tags/{key}/values',
  access: 'bot',
  errors: ['ResourceGone'],
  input: closedObject({ key: { type: 'string' } }),
  output: closedObject({}),

  async handle() {
    throw new ApiError(
      'ResourceGone',
      'The values of a tag are not listed: list users, conversations or messages by their tags',
    )
  },
})

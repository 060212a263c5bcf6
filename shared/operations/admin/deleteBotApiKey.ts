import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteToken } from '../../store/tokens.ts'

export const deleteBotApiKey = operation({
  name: 'deleteBotApiKey',
  description: 'Deletes a token of a bot. The token becomes invalid at once.',
  method: 'DELETE',
  path: '/v1/admin/bots/baks/{id}',
  access: 'developer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({}),

  async handle({ db, caller }, { id }) {
    if (await deleteToken(db, caller.workspaceId, 'bot', id)) return {}
    throw notFound(`Bot token '${id}'`)
  },
})

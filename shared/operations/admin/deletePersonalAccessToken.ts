import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { operation } from '../../rpc/operation.ts'
import { deletePersonalToken } from '../../store/accounts.ts'

export const deletePersonalAccessToken = operation({
  name: 'deletePersonalAccessToken',
  description: 'Deletes a personal token of the caller. The token becomes invalid at once.',
  method: 'DELETE',
  path: '/v1/admin/account/pats/{id}',
  access: 'account',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({}),

  async handle({ db, caller }, { id }) {
    if (await deletePersonalToken(db, caller.accountId, id)) return {}
    throw notFound(`Personal token '${id}'`)
  },
})

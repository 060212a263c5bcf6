import { closedObject } from '../../schema.ts'
import { dataRequest, toDataRequest } from '../../models/data-request.ts'
import { operation } from '../../rpc/operation.ts'
import { findOwnDataRequest } from './find-data-request.ts'

export const getDataRequest = operation({
  name: 'getDataRequest',
  description: 'Returns how far the erasure of a person’s data is, and how many findings it has.',
  method: 'GET',
  path: '/v1/admin/data-requests/{id}',
  access: 'administrator',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({ dataRequest }),

  async handle(context, { id }) {
    return { dataRequest: toDataRequest(await findOwnDataRequest(context, id)) }
  },
})

import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { deployAgain } from './deploy-version.ts'

export const deployBotVersion = operation({
  name: 'deployBotVersion',
  description: 'Deploys a version of a bot’s code again, for all events from now on. It changes nothing else.',
  method: 'POST',
  path: '/v1/admin/bots/{id}/versions/deploy',
  access: 'developer',
  errors: ['ResourceNotFound'],
  auditedFields: ['versionId'],
  input: closedObject({ id: { type: 'string' }, versionId: { type: 'string' } }),
  output: closedObject({}),

  async handle(context, { id, versionId }) {
    await deployAgain(context, id, versionId)
    return {}
  },
})

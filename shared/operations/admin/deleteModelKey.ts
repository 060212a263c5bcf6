import { hostedProviders } from '../../config/models-settings.ts'
import { notFound } from '../../errors.ts'
import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteModelKey as removeModelKey } from '../../store/model-keys.ts'

export const deleteModelKey = operation({
  name: 'deleteModelKey',
  description: "Deletes the workspace's own key of a provider of language models. Its bots use the operator's again.",
  method: 'DELETE',
  path: '/v1/admin/models/keys/{provider}',
  access: 'administrator',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  auditedFields: ['provider'],
  input: closedObject({ provider: { enum: hostedProviders } }),
  output: closedObject({}),

  async handle({ db, caller }, { provider }) {
    if (!(await removeModelKey(db, caller.workspaceId, provider))) throw notFound(`A key of ${provider}`)
    return {}
  },
})

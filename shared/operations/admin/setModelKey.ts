import { hostedProviders, key } from '../../config/models-settings.ts'
import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { setModelKey as storeModelKey } from '../../store/model-keys.ts'

export const setModelKey = operation({
  name: 'setModelKey',
  description:
    "Sets the workspace's own key of a hosted provider of language models. Its bots call that provider with it in place of the " +
    "operator's. It is stored encrypted and never returned.",
  method: 'PUT',
  path: '/v1/admin/models/keys/{provider}',
  access: 'administrator',
  stability: 'experimental',
  auditedFields: ['provider'],
  input: closedObject({ provider: { enum: hostedProviders }, key }),
  output: closedObject({}),

  async handle({ db, config, caller: { workspaceId, accountId } }, given) {
    await storeModelKey(db, config.secret, { workspaceId, accountId, ...given })
    return {}
  },
})

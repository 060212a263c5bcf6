import { closedObject } from '../../schema.ts'
import { scriptWarnings } from '../../integrations/check-scripts.ts'
import { assertImplemented, resolveInterfaces } from '../../integrations/implement-interfaces.ts'
import { operation } from '../../rpc/operation.ts'
import { mergeSecrets } from '../../store/named-secrets.ts'
import { assertName } from './assert-name.ts'
import { inspectIntegration } from './inspect-integration.ts'
import { changeDefinition, integrationFields, withVisibility } from '../../integrations/describe-integration.ts'
import { integrationName } from '../../models/integration.ts'

export const validateIntegrationCreation = operation({
  name: 'validateIntegrationCreation',
  description: 'Checks whether an integration can be created, without creating it.',
  method: 'POST',
  awaitsWorker: true,
  path: '/v1/admin/integrations/validate',
  access: 'developer',
  errors: [
    'InvalidJsonSchema',
    'ReferenceNotFound',
    'AlreadyExists',
    'LimitExceeded',
    'RateLimited',
    'OperationTimeout',
  ],
  changesNothing: true,
  input: closedObject(integrationName, integrationFields),
  output: closedObject({}, { warnings: scriptWarnings }),

  async handle(context, { name, version, code, sourceMap, permissions: _permissions, secrets, ...given }) {
    const { db, caller } = context
    assertName(name, version)
    const change = await resolveInterfaces(db, caller.workspaceId, withVisibility(given, {}))
    // Refuses an invalid definition before workers read its code and scripts.
    changeDefinition({}, change, undefined)
    const loaded = await mergeSecrets(context.config.secret, { id: '', secrets: null }, secrets)
    const upload = code === undefined ? undefined : { code, sourceMap, secrets: loaded }
    const [inspected, warnings] = await inspectIntegration(context, caller.workspaceId, { upload, change })
    await assertImplemented(db, caller.workspaceId, change, changeDefinition({}, change, inspected))
    return warnings.length > 0 ? { warnings } : {}
  },
})

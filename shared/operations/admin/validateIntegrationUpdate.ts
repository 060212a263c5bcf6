import { closedObject } from '../../schema.ts'
import { scriptWarnings } from '../../integrations/check-scripts.ts'
import { assertImplemented, resolveInterfaces } from '../../integrations/implement-interfaces.ts'
import { operation } from '../../rpc/operation.ts'
import { mergeSecrets } from '../../store/named-secrets.ts'
import { findIntegration, hashOfIntegration } from '../../store/integrations.ts'
import { assertFunctionsRemain } from './assert-code-remains.ts'
import { inspectIntegration } from './inspect-integration.ts'
import {
  changeDefinition,
  definitionToChange,
  integrationFields,
  noSuchIntegration,
  replaceDefinition,
  withVisibility,
} from '../../integrations/describe-integration.ts'

export const validateIntegrationUpdate = operation({
  name: 'validateIntegrationUpdate',
  description: 'Checks whether an integration can be changed in this way, without changing it.',
  method: 'PUT',
  path: '/v1/admin/integrations/{id}/validate',
  access: 'developer',
  errors: [
    'ResourceNotFound',
    'ReferenceNotFound',
    'InvalidJsonSchema',
    'BreakingChanges',
    'LimitExceeded',
    'RateLimited',
    'OperationTimeout',
  ],
  changesNothing: true,
  input: closedObject({ id: { type: 'string' } }, { ...integrationFields, replaceDefinition }),
  output: closedObject({}, { warnings: scriptWarnings }),

  async handle(
    context,
    { id, code, sourceMap, permissions: _permissions, secrets, replaceDefinition: isReplaced, ...given },
  ) {
    const { db, caller, config } = context
    const present = await findIntegration(db, caller.workspaceId, id)
    if (!present) throw noSuchIntegration(id)
    const replacing = { replaceDefinition: isReplaced, code }
    const change = await resolveInterfaces(db, caller.workspaceId, withVisibility(given, present.definition))
    // Refuses an invalid definition before workers read its code and scripts.
    changeDefinition(definitionToChange(present.definition, replacing), change, undefined)
    const loaded = await mergeSecrets(config.secret, present, secrets)
    const upload = code === undefined ? undefined : { code, sourceMap, secrets: loaded }
    const [inspected, warnings] = await inspectIntegration(context, caller.workspaceId, { upload, change })
    if (inspected && inspected.hash !== (await hashOfIntegration(db, id))) assertFunctionsRemain(present, inspected)
    const definition = changeDefinition(definitionToChange(present.definition, replacing), change, inspected)
    await assertImplemented(db, caller.workspaceId, change, definition)
    return warnings.length > 0 ? { warnings } : {}
  },
})

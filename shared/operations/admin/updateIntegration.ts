import { ApiError } from '../../errors.ts'
import { closedObject } from '../../schema.ts'
import { scriptWarnings } from '../../integrations/check-scripts.ts'
import { assertImplemented, resolveInterfaces } from '../../integrations/implement-interfaces.ts'
import { assertVisibility } from '../../integrations/public-integrations.ts'
import { integration } from '../../models/integration.ts'
import { changeSecrets, mergeSecrets } from '../../store/named-secrets.ts'
import { operation } from '../../rpc/operation.ts'
import { registerAgain } from '../../integrations/registration.ts'
import {
  findIntegration,
  hashOfIntegration,
  lockIntegration,
  updateIntegrationFields,
} from '../../store/integrations.ts'
import { transact } from '../../store/database.ts'
import { assertFunctionsRemain } from './assert-code-remains.ts'
import { assertUrl, codeUrl } from './assert-url.ts'
import { inspectIntegration } from './inspect-integration.ts'
import {
  changeDefinition,
  definitionToChange,
  describeIntegration,
  integrationFields,
  noSuchIntegration,
  replaceDefinition,
  withVisibility,
  toStoredCode,
} from '../../integrations/describe-integration.ts'

export const updateIntegration = operation({
  name: 'updateIntegration',
  description:
    'Changes a version of an integration, also for the bots that have it installed. Maps are merged; null removes an ' +
    'entry. New code is registered again on each installation, whose status has the outcome.',
  method: 'PUT',
  path: '/v1/admin/integrations/{id}',
  access: 'developer',
  errors: [
    'ResourceNotFound',
    'ReferenceNotFound',
    'AlreadyExists',
    'ReferenceConstraint',
    'InvalidJsonSchema',
    'BreakingChanges',
    'LimitExceeded',
    'RateLimited',
    'OperationTimeout',
  ],
  input: closedObject({ id: { type: 'string' } }, { ...integrationFields, replaceDefinition, url: codeUrl }),
  output: closedObject({ integration }, { warnings: scriptWarnings }),

  async handle(context, { id, url, code, sourceMap, permissions, secrets, replaceDefinition: isReplaced, ...given }) {
    const { db, caller, config } = context
    const present = await findIntegration(db, caller.workspaceId, id)
    if (!present) throw noSuchIntegration(id)
    const replacing = { replaceDefinition: isReplaced, code }
    const change = await resolveInterfaces(db, caller.workspaceId, withVisibility(given, present.definition))
    // Refuses an invalid definition before workers read its code and scripts.
    changeDefinition(definitionToChange(present.definition, replacing), change, undefined)
    assertUrl(config, url, present.url !== null)
    if (present.url !== null && code !== undefined) {
      throw new ApiError('InvalidPayload', 'code: this integration is under development, and its code is at its url')
    }
    const loaded = await mergeSecrets(config.secret, present, secrets)
    const upload = code === undefined ? undefined : { code, sourceMap, secrets: loaded }
    const [inspected, warnings] = await inspectIntegration(context, caller.workspaceId, { upload, change })
    const follow = await transact(db, async (transaction) => {
      const row = await lockIntegration(transaction, caller.workspaceId, id)
      if (!row) throw noSuchIntegration(id)
      await assertVisibility(transaction, caller.workspaceId, { id, name: row.name, visibility: change.visibility })
      const isMoved = url !== undefined && url !== row.url
      const isOther = inspected && inspected.hash !== (await hashOfIntegration(transaction, id))
      if (isOther) assertFunctionsRemain(row, inspected)
      const definition = changeDefinition(definitionToChange(row.definition, replacing), change, inspected)
      await assertImplemented(transaction, caller.workspaceId, change, definition)
      await updateIntegrationFields(transaction, caller.workspaceId, id, {
        definition,
        permissions,
        url,
        ...(secrets && { secrets: await changeSecrets(config.secret, row, secrets) }),
        ...(inspected && { code: toStoredCode(inspected) }),
      })
      return isOther || isMoved ? registerAgain(context, transaction, id) : undefined
    })
    await follow?.()
    return { integration: await describeIntegration(context, id), ...(warnings.length > 0 && { warnings }) }
  },
})

import { closedObject } from '../../schema.ts'
import { ApiError, postgresCode, uniqueViolation } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { scriptWarnings } from '../../integrations/check-scripts.ts'
import { assertImplemented, resolveInterfaces } from '../../integrations/implement-interfaces.ts'
import { assertVisibility } from '../../integrations/public-integrations.ts'
import { integration, integrationName } from '../../models/integration.ts'
import { changeSecrets, mergeSecrets } from '../../store/named-secrets.ts'
import { operation } from '../../rpc/operation.ts'
import { insertIntegration } from '../../store/integrations.ts'
import { assertName } from './assert-name.ts'
import { assertUrl, codeUrl } from './assert-url.ts'
import { inspectIntegration } from './inspect-integration.ts'
import {
  changeDefinition,
  codeElsewhere,
  describeIntegration,
  integrationFields,
  withVisibility,
  toStoredCode,
} from '../../integrations/describe-integration.ts'

export const createIntegration = operation({
  name: 'createIntegration',
  description: 'Creates one version of an integration, which bots of the workspace can then install.',
  method: 'POST',
  awaitsWorker: true,
  path: '/v1/admin/integrations',
  access: 'developer',
  errors: [
    'InvalidJsonSchema',
    'ReferenceNotFound',
    'AlreadyExists',
    'LimitExceeded',
    'RateLimited',
    'OperationTimeout',
  ],
  auditedFields: ['name', 'version'],
  input: {
    type: 'object',
    additionalProperties: false,
    required: ['name', 'version'],
    properties: { ...integrationName, ...integrationFields, url: codeUrl },
  },
  output: closedObject({ integration }, { warnings: scriptWarnings }),

  async handle(context, { name, version, url, code, sourceMap, permissions = {}, secrets = {}, ...given }) {
    const { db, caller, config } = context
    assertName(name, version)
    assertUrl(config, url, given.dev === true)
    if (code === undefined && url === undefined) {
      throw new ApiError(
        'InvalidPayload',
        'code: is missing; an integration under development (dev: true) may have a url instead',
      )
    }
    const change = await resolveInterfaces(db, caller.workspaceId, withVisibility(given, {}))
    // Refuses an invalid definition before workers read its code and scripts.
    changeDefinition({}, change, undefined)
    await assertVisibility(db, caller.workspaceId, { name, visibility: change.visibility })
    const id = newId('intver')
    const loaded = await mergeSecrets(config.secret, { id, secrets: null }, secrets)
    const upload = code === undefined || url !== undefined ? undefined : { code, sourceMap, secrets: loaded }
    const [inspected, warnings] = await inspectIntegration(context, caller.workspaceId, { upload, change })
    const definition = changeDefinition({}, change, inspected)
    await assertImplemented(db, caller.workspaceId, change, definition)
    try {
      await insertIntegration(db, {
        ...(inspected ? toStoredCode(inspected) : codeElsewhere()),
        id,
        workspaceId: caller.workspaceId,
        name,
        version,
        url,
        definition,
        permissions,
        secrets: await changeSecrets(config.secret, { id, secrets: null }, secrets),
      })
    } catch (error) {
      if (postgresCode(error) !== uniqueViolation) throw error
      throw new ApiError(
        'AlreadyExists',
        `The workspace already has ${name} ${version}: update it, or choose a higher version`,
      )
    }
    return { integration: await describeIntegration(context, id), ...(warnings.length > 0 && { warnings }) }
  },
})

import { closedObject } from '../../schema.ts'
import { ApiError, postgresCode, uniqueViolation } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { inspectCode } from '../../code/inspect-code.ts'
import { integration } from '../../models/integration.ts'
import { changeSecrets, mergeSecrets } from '../../store/named-secrets.ts'
import { operation } from '../../rpc/operation.ts'
import { insertIntegration } from '../../store/integrations.ts'
import { assertName } from './assert-name.ts'
import {
  changeDefinition,
  describeIntegration,
  integrationFields,
  integrationName,
  toStoredCode,
} from '../../integrations/describe-integration.ts'

export const createIntegration = operation({
  name: 'createIntegration',
  description: 'Creates one version of an integration, which bots of the workspace can then install.',
  method: 'POST',
  awaitsWorker: true,
  path: '/v1/admin/integrations',
  access: 'developer',
  errors: ['InvalidJsonSchema', 'AlreadyExists', 'LimitExceeded', 'OperationTimeout'],
  auditedFields: ['name', 'version'],
  input: {
    type: 'object',
    additionalProperties: false,
    required: ['name', 'version', 'code'],
    properties: { ...integrationName, ...integrationFields },
  },
  output: closedObject({ integration }),

  async handle(context, { name, version, code, sourceMap, permissions = {}, secrets = {}, ...change }) {
    const { db, caller, config } = context
    assertName(name, version)
    changeDefinition({}, change, undefined)
    const id = newId('intver')
    const loaded = await mergeSecrets(config.secret, { id, secrets: null }, secrets)
    const inspected = await inspectCode(context, caller.workspaceId, { code, sourceMap, secrets: loaded })
    try {
      await insertIntegration(db, {
        ...toStoredCode(inspected),
        id,
        workspaceId: caller.workspaceId,
        name,
        version,
        definition: changeDefinition({}, change, inspected),
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
    return { integration: await describeIntegration(context, id) }
  },
})

import { closedObject } from '../../schema.ts'
import { boundSchemas } from '../../code/accept-schema.ts'
import { mergePatch } from '../../code/merge-patch.ts'
import { postgresCode, uniqueViolation } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { assertPublishable, requireEntry, versionExists } from '../../integrations/catalogue.ts'
import { integrationName } from '../../models/integration.ts'
import { interfaceDefinitionSchema, interfaceFields, interfaceOutput, toInterface } from '../../models/interface.ts'
import { operation } from '../../rpc/operation.ts'
import { insertInterface } from '../../store/catalogue.ts'
import { assertName } from './assert-name.ts'

export const createInterface = operation({
  name: 'createInterface',
  description: 'Creates one version of an interface, which integrations implement and plugins depend on.',
  method: 'POST',
  path: '/v1/admin/interfaces',
  access: 'developer',
  errors: ['AlreadyExists', 'LimitExceeded'],
  auditedFields: ['name', 'version'],
  input: closedObject({ ...integrationName }, interfaceFields),
  output: closedObject({ interface: interfaceOutput }),

  async handle({ db, caller }, { name, version, public: isPublic = false, ...change }) {
    const { workspaceId } = caller
    assertName(name, version)
    const definition = mergePatch(interfaceDefinitionSchema, {}, change)
    boundSchemas(interfaceDefinitionSchema, change)
    if (isPublic) await assertPublishable(db, 'interfaces', workspaceId, name)
    const visibility = isPublic ? 'public' : 'private'
    const id = newId('ifver')
    try {
      await insertInterface(db, { id, workspace_id: workspaceId, name, version, visibility, definition })
    } catch (error) {
      throw postgresCode(error) === uniqueViolation ? versionExists('interfaces', name, version) : error
    }
    return { interface: toInterface(await requireEntry(db, 'interfaces', { workspaceId }, id)) }
  },
})

import { closedObject } from '../../schema.ts'
import { requireEntry } from '../../integrations/catalogue.ts'
import { backingEntities, dereferencePlugin } from '../../integrations/dereference-plugin.ts'
import { plugin, toPlugin } from '../../models/plugin.ts'
import { operation } from '../../rpc/operation.ts'

export const getDereferencedPlugin = operation({
  name: 'getDereferencedPlugin',
  description:
    'Returns a version of a plugin whose references to entities of interfaces are replaced by the entities of the ' +
    'integrations that implement the interfaces.',
  method: 'GET',
  path: '/v1/admin/plugins/{id}/dereferenced',
  access: 'viewer',
  errors: ['ResourceNotFound', 'ReferenceNotFound'],
  input: closedObject(
    { id: { type: 'string' } },
    {
      interfaces: {
        type: 'object',
        maxProperties: 30,
        additionalProperties: { type: 'string' },
        description: 'Ids of integrations, by the plugin’s names of the interfaces: `interfaces[hitl]=<id>`.',
      },
    },
  ),
  output: closedObject({ plugin }),

  async handle({ db, caller }, { id, interfaces = {} }) {
    const found = toPlugin(await requireEntry(db, 'plugins', { workspaceId: caller.workspaceId }, id))
    const implementations = Object.fromEntries(
      Object.entries(interfaces).map(([alias, integrationId]) => [alias, { integrationId }]),
    )
    const entities = await backingEntities(db, caller.workspaceId, found, implementations)
    return { plugin: dereferencePlugin(found, entities) }
  },
})

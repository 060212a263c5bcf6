import { closedObject } from '../../schema.ts'
import { requireEntry } from '../../integrations/catalogue.ts'
import { backingEntities, dereferencePlugin } from '../../integrations/dereference-plugin.ts'
import { plugin, toPlugin } from '../../models/plugin.ts'
import type { Database } from '../../store/database.ts'
import type { Owner } from '../../store/catalogue.ts'
import type { Infer } from '../../schema.ts'

export const dereferenceInput = closedObject(
  { id: { type: 'string' } },
  {
    interfaces: {
      type: 'object',
      maxProperties: 30,
      additionalProperties: { type: 'string' },
      description: 'Ids of integrations, by the plugin’s names of the interfaces: `interfaces[hitl]=<id>`.',
    },
  },
)

export const dereferenceOutput = closedObject({ plugin })

/**
 * A version of a plugin whose references to entities of interfaces are replaced by the entities of the integrations that
 * implement the interfaces.
 *
 * @param owner whose plugins are looked up
 * @param workspaceId the workspace whose integrations are looked up
 * @throws ApiError `ResourceNotFound`, `ReferenceNotFound`
 */
export async function dereference(
  db: Database,
  owner: Owner,
  workspaceId: string,
  { id, interfaces = {} }: Infer<typeof dereferenceInput>,
): Promise<Infer<typeof dereferenceOutput>> {
  const found = toPlugin(await requireEntry(db, 'plugins', owner, id))
  const implementations = Object.fromEntries(
    Object.entries(interfaces).map(([alias, integrationId]) => [alias, { integrationId }]),
  )
  const entities = await backingEntities(db, workspaceId, found, implementations)
  return { plugin: dereferencePlugin(found, entities) }
}

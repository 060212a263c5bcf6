import { ApiError } from '../errors.ts'
import { describeBuiltIn, builtInOf } from '../models/chat-integration.ts'
import type { integrationDefinitionSchema } from '../models/integration.ts'
import { isRecord } from '../models/payload.ts'
import type { Plugin } from '../models/plugin.ts'
import type { Infer } from '../schema.ts'
import type { Database } from '../store/database.ts'
import { findInstallable } from './public-integrations.ts'

/** The integration that implements an interface for a plugin, and its name of the interface where it has several. */
export interface Implementation {
  integrationId: string
  integrationInterfaceAlias?: string | undefined
}

/** JSON Schemas of entities, by the plugin's name of an interface and the interface's name of the entity. */
export type BackingEntities = Map<string, Map<string, object>>

type Definition = Infer<typeof integrationDefinitionSchema>

/** Maximum number of interfaces of a plugin, and of integrations, that a bot has settings for. */
export const maxImplementations = 30

/** Characters that all entities may add to a plugin's schemas; references beyond accept any value. */
const longestEntities = 1024 * 1024

const reference = /^interface:(.+)\/entities\/(.+)$/s

/**
 * Finds the entities behind a plugin's interfaces.
 *
 * @param implementations by the plugin's names of the interfaces; names that the plugin does not declare are ignored
 * @throws ApiError `ReferenceNotFound` when the workspace does not have an integration, `LimitExceeded` for too many
 */
export async function backingEntities(
  db: Database,
  workspaceId: string,
  { dependencies }: Pick<Plugin, 'dependencies'>,
  implementations: Record<string, Implementation>,
): Promise<BackingEntities> {
  const entities: BackingEntities = new Map()
  const declared = Object.entries(implementations).filter(([alias]) => Object.hasOwn(dependencies.interfaces, alias))
  if (declared.length > maxImplementations) {
    throw new ApiError('LimitExceeded', `A plugin has at most ${maxImplementations} interfaces with an integration`)
  }
  const definitions = new Map<string, Definition>()
  for (const [alias, implementation] of declared) {
    const { integrationId: id } = implementation
    const definition = definitions.get(id) ?? (await requireDefinition(db, workspaceId, id))
    definitions.set(id, definition)
    entities.set(alias, entitiesOf(definition, implementation, dependencies.interfaces[alias]))
  }
  return entities
}

async function requireDefinition(db: Database, workspaceId: string, id: string): Promise<Definition> {
  const found = builtInOf(id) ? describeBuiltIn(id) : (await findInstallable(db, workspaceId, id))?.definition
  if (!found) throw new ApiError('ReferenceNotFound', `Integration '${id}' not found`)
  return found
}

function entitiesOf(
  { interfaces = {}, entities = {} }: Definition,
  { integrationInterfaceAlias: name }: Implementation,
  wanted: { id: string; name: string } | undefined,
): Map<string, object> {
  const implemented =
    name === undefined
      ? Object.values(interfaces).find((one) => one && (one.id === wanted?.id || one.name === wanted?.name))
      : interfaces[name]
  const found = Object.entries(implemented?.entities ?? {}).map(
    ([entity, named]) => [entity, entities[named?.name ?? entity]?.schema] as const,
  )
  return new Map(found.filter((entry): entry is [string, NonNullable<(typeof entry)[1]>] => entry[1] !== undefined))
}

/** The plugin with the entities in place of the references to them. A reference to none accepts any value. */
export function dereferencePlugin(plugin: Plugin, entities: BackingEntities): Plugin {
  let left = longestEntities
  const lengths = new Map<object, number>()
  const resolve = (text: string): object | undefined => {
    const [, alias = '', name = ''] = reference.exec(text) ?? []
    if (alias === '') return undefined
    const entity = entities.get(alias)?.get(name)
    if (!entity) return {}
    const length = lengths.get(entity) ?? JSON.stringify(entity).length
    lengths.set(entity, length)
    left -= length
    return left < 0 ? {} : entity
  }
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace)
    if (!isRecord(value)) return value
    const entity = typeof value['$ref'] === 'string' ? resolve(value['$ref']) : undefined
    return entity ?? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, replace(inner)]))
  }
  const { configuration, states, events, actions } = plugin
  return { ...plugin, ...(replace({ configuration, states, events, actions }) as Partial<Plugin>) }
}

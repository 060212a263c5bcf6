import { closedObject, type Infer } from '../schema.ts'
import {
  actionDefinitions,
  anyObject,
  attributes,
  eventDefinitions,
  integrationStateDefinitions,
  jsonSchema,
  tagDefinitions,
  words,
} from './definition.ts'
import { interfaceSummary, toInterfaceSummary } from './interface.ts'
import type { PluginRow } from './tables.ts'

const tagged = closedObject({ tags: tagDefinitions })

/** The dependencies of a plugin, by the plugin's own names for them. */
const dependencies = {
  type: 'object',
  additionalProperties: {
    ...closedObject(
      {},
      { id: { type: 'string' }, name: { type: 'string', maxLength: 200 }, version: { type: 'string', maxLength: 200 } },
    ),
    nullable: true,
  },
} as const

/** The declarations of a plugin. A reference `{ "$ref": "interface:<dependency>/entities/<entity>" }` names an entity. */
export const pluginDefinition = {
  title: { type: 'string', maxLength: 64 },
  description: { type: 'string', maxLength: 256 },
  configuration: closedObject({ schema: jsonSchema }, words),
  states: {
    type: 'object',
    additionalProperties: {
      ...integrationStateDefinitions.additionalProperties,
      properties: {
        ...integrationStateDefinitions.additionalProperties.properties,
        type: { enum: ['conversation', 'user', 'bot'] },
      },
    },
  },
  events: eventDefinitions,
  actions: actionDefinitions,
  user: tagged,
  conversation: tagged,
  message: tagged,
  dependencies: closedObject({}, { interfaces: dependencies, integrations: dependencies }),
  attributes,
} as const

export const pluginDefinitionSchema = closedObject({}, pluginDefinition)

export type PluginDefinition = Infer<typeof pluginDefinitionSchema>

/** Upper bound of the code for one kind of machine, in characters. */
const longestCode = 20 * 1024 * 1024
const code = { type: 'string', maxLength: longestCode } as const

export const pluginCode = {
  ...closedObject({ node: code, browser: code }),
  description: 'The bundle for bots, and the one for browsers. The platform stores both and runs neither.',
} as const

/** The fields of a plugin, at its creation and in updates. */
export const pluginFields = {
  ...pluginDefinition,
  public: { type: 'boolean', description: 'As `visibility` public or private.' },
  visibility: {
    enum: ['public', 'private', 'unlisted'],
    description:
      'Whether all workspaces of the platform see it: in lists and by its name, only by its name, or not at all.',
  },
} as const

/** A plugin, as lists show it. */
export const pluginSummary = closedObject({
  ...interfaceSummary.properties,
  visibility: { enum: ['public', 'private', 'unlisted'] },
  lifecycleStatus: { enum: ['published'] },
})

const resolved = {
  type: 'object',
  additionalProperties: closedObject({
    id: { type: 'string' },
    name: { type: 'string' },
    version: { type: 'string' },
  }),
} as const

/** A plugin in full. Published clients read nested fields without checks, so every map is always present. */
export const plugin = {
  type: 'object',
  additionalProperties: false,
  required: [
    ...pluginSummary.required,
    'configuration',
    'states',
    'events',
    'actions',
    'user',
    'conversation',
    'message',
    'dependencies',
  ],
  properties: {
    ...pluginDefinition,
    ...pluginSummary.properties,
    dependencies: closedObject({ interfaces: resolved, integrations: resolved }),
  },
} as const

export type Plugin = Infer<typeof plugin>

/** A plugin's row without its code. */
export type PluginListing = Omit<PluginRow, 'node_code' | 'browser_code'>

export function toPluginSummary(row: PluginListing): Infer<typeof pluginSummary> {
  return { ...toInterfaceSummary(row), visibility: row.visibility, lifecycleStatus: 'published' }
}

export function toPlugin(row: PluginListing): Plugin {
  const definition: PluginDefinition = row.definition
  const none = { tags: {} }
  return {
    states: {},
    events: {},
    actions: {},
    user: none,
    conversation: none,
    message: none,
    ...definition,
    ...toPluginSummary(row),
    configuration: definition.configuration ?? { schema: {} },
    dependencies: {
      interfaces: resolveAll(definition.dependencies?.interfaces),
      integrations: resolveAll(definition.dependencies?.integrations),
    },
  }
}

function resolveAll(given: Infer<typeof dependencies> = {}): Infer<typeof resolved> {
  return Object.fromEntries(
    Object.entries(given).flatMap(([alias, one]) =>
      one === null ? [] : [[alias, { id: one.id ?? '', name: one.name ?? '', version: one.version ?? '' }]],
    ),
  )
}

const backing = {
  type: 'object',
  additionalProperties: anyObject,
  description: 'By the plugin’s name for it.',
} as const

/** A plugin of a bot. */
export const installedPlugin = closedObject({
  ...pluginSummary.properties,
  enabled: { type: 'boolean' },
  configuration: anyObject,
  interfaces: backing,
  integrations: backing,
})

export type InstalledPlugin = Infer<typeof installedPlugin>

/** The plugins of a bot by alias, and what they declare, under `alias#name`. */
export interface DescribedPlugins {
  plugins: Record<string, InstalledPlugin>
  actions: Plugin['actions']
  events: Plugin['events']
  states: Plugin['states']
  userTags: Plugin['user']['tags']
  conversationTags: Plugin['conversation']['tags']
  messageTags: Plugin['message']['tags']
}

/** The description of no plugins, to which some can be added. */
export function noPlugins(): DescribedPlugins {
  return { plugins: {}, actions: {}, events: {}, states: {}, userTags: {}, conversationTags: {}, messageTags: {} }
}

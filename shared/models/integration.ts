import { closedObject, type Infer } from '../schema.ts'
import type { IntegrationRow } from './tables.ts'
import {
  actionDefinitions,
  attributes,
  channelDefinitions,
  configurationDefinition,
  configurationDefinitions,
  entityDefinitions,
  eventDefinitions,
  identifierDefinition,
  integrationStateDefinitions,
  userDefinition,
} from './definition.ts'
import { permissions } from './bot-code.ts'

/** The integration's own names, by the names of an interface. */
const mappedNames = {
  type: 'object',
  additionalProperties: { ...closedObject({ name: { type: 'string', maxLength: 200 } }), nullable: true },
} as const

/** The interfaces that an integration implements; `name` and `version` are those of the interface with the id. */
const implementedInterfaces = {
  type: 'object',
  maxProperties: 30,
  additionalProperties: {
    ...closedObject(
      { id: { type: 'string', maxLength: 200 } },
      {
        name: { type: 'string' },
        version: { type: 'string' },
        entities: mappedNames,
        actions: mappedNames,
        events: mappedNames,
        channels: mappedNames,
      },
    ),
    nullable: true,
  },
} as const

/** The fields that name a new integration. */
export const integrationName = {
  name: {
    type: 'string',
    maxLength: 200,
    pattern: '^[a-z][a-z0-9_-]*(/[a-z][a-z0-9_-]*)?$',
    description: 'Lower-case letters, digits, - and _; the workspace’s handle and a slash may precede the name.',
  },
  version: { type: 'string', maxLength: 200, description: 'A semantic version, for instance 1.0.0.' },
} as const

/** The declarations of an integration, without code and secrets. */
export const integrationDefinition = {
  title: { type: 'string', maxLength: 64 },
  description: { type: 'string', maxLength: 256 },
  configuration: configurationDefinition,
  configurations: configurationDefinitions,
  channels: channelDefinitions,
  states: integrationStateDefinitions,
  events: eventDefinitions,
  actions: actionDefinitions,
  entities: entityDefinitions,
  user: userDefinition,
  identifier: identifierDefinition,
  interfaces: implementedInterfaces,
  extraOperations: {
    type: 'object',
    additionalProperties: { ...closedObject({}, { enabled: { type: 'boolean' } }), nullable: true },
  },
  attributes,
  dev: { type: 'boolean' },
  visibility: { enum: ['public', 'private', 'unlisted'] },
  maxExecutionTime: { type: 'integer', minimum: 1 },
  sdkVersion: { type: 'string', maxLength: 200 },
} as const

export const integrationDefinitionSchema = closedObject({}, integrationDefinition)

/** The declaration of an action that the code exports and the definition does not have: any input, any output. */
export const undeclaredAction = { input: { schema: {} }, output: { schema: {} } }

/** An integration, as lists show it. */
export const integrationSummary = closedObject({
  id: { type: 'string', description: 'The id of this version of the integration.' },
  createdAt: { type: 'string', format: 'date-time' },
  updatedAt: { type: 'string', format: 'date-time' },
  name: { type: 'string' },
  version: { type: 'string' },
  title: { type: 'string' },
  description: { type: 'string' },
  iconUrl: { type: 'string' },
  public: { type: 'boolean' },
  visibility: integrationDefinition.visibility,
  verificationStatus: { enum: ['unapproved'] },
  lifecycleStatus: { enum: ['published'] },
})

/** An integration in full. Published clients read nested fields without checks, so every part is always present. */
export const integration = {
  type: 'object',
  additionalProperties: false,
  required: [
    ...integrationSummary.required,
    'url',
    'signingSecret',
    'dev',
    'identifier',
    'interfaces',
    'configuration',
    'configurations',
    'channels',
    'states',
    'events',
    'actions',
    'entities',
    'user',
    'readmeUrl',
    'permissions',
    'secrets',
  ],
  properties: {
    ...integrationDefinition,
    ...integrationSummary.properties,
    url: { type: 'string' },
    signingSecret: { type: 'string' },
    readmeUrl: { type: 'string' },
    permissions,
    secrets: { type: 'array', items: { type: 'string' }, description: 'The names of the secrets.' },
    hash: { type: 'string', description: 'The SHA-256 of the code; empty for code at a url.' },
  },
} as const

export type Integration = Infer<typeof integration>

/** The columns that lists need. */
export type IntegrationListing = Pick<
  IntegrationRow,
  'id' | 'name' | 'version' | 'definition' | 'created_at' | 'updated_at'
>

type Definition = Infer<typeof integrationDefinitionSchema>

/** The title, description and similar fields of an integration, which its installations show too. */
export function toPresentation({ name, definition }: Pick<IntegrationRow, 'name' | 'definition'>) {
  const { title = name, description = '', visibility = 'private' }: Definition = definition
  return {
    title,
    description,
    iconUrl: '',
    public: visibility === 'public',
    visibility,
    verificationStatus: 'unapproved',
    lifecycleStatus: 'published',
  } as const
}

export function toIntegrationSummary(row: IntegrationListing): Infer<typeof integrationSummary> {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    name: row.name,
    version: row.version,
    ...toPresentation(row),
  }
}

/** @param secretNames the names of the integration's secrets */
export function toIntegration(
  row: IntegrationListing & Pick<IntegrationRow, 'permissions'> & Partial<Pick<IntegrationRow, 'url' | 'hash'>>,
  secretNames: string[],
): Integration {
  const definition: Definition = row.definition
  return {
    states: {},
    events: {},
    actions: {},
    entities: {},
    dev: false,
    ...definition,
    ...toIntegrationSummary(row),
    interfaces: mapValues(definition.interfaces, completeInterface),
    identifier: definition.identifier ?? {},
    configuration: completeConfiguration(definition.configuration),
    configurations: mapValues(definition.configurations, completeConfiguration),
    channels: mapValues(definition.channels, completeChannel),
    user: completeUser(definition.user),
    url: row.url ?? '',
    signingSecret: '',
    readmeUrl: '',
    permissions: row.permissions,
    secrets: secretNames,
    ...(row.hash !== undefined && { hash: row.hash }),
  }
}

function completeConfiguration(given: NonNullable<Definition['configuration']> = {}) {
  return { ...given, schema: given.schema ?? {}, identifier: { required: false, ...given.identifier } }
}

function completeInterface(given: NonNullable<NonNullable<Definition['interfaces']>[string]>) {
  return { name: '', version: '', entities: {}, actions: {}, events: {}, channels: {}, ...given }
}

/** A channel of a definition, with all of its parts. */
export function completeChannel(given: NonNullable<NonNullable<Definition['channels']>[string]>) {
  return {
    ...given,
    messages: given.messages ?? {},
    conversation: completeUser(given.conversation),
    message: { tags: given.message?.tags ?? {} },
  }
}

function completeUser(given: NonNullable<Definition['user']> = {}) {
  return { tags: given.tags ?? {}, creation: { enabled: false, requiredTags: [], ...given.creation } }
}

/** Maps every entry of an object; null entries, which are removals, are left out. */
function mapValues<Value, Result>(
  map: Record<string, Value | null> | undefined,
  change: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(
    Object.entries(map ?? {}).flatMap(([name, value]) => (value === null ? [] : [[name, change(value)]])),
  )
}

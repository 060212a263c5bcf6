import { closedObject, type Infer } from '../schema.ts'
import { actionDefinitions, attributes, entityDefinitions, eventDefinitions, jsonSchema, words } from './definition.ts'
import type { InterfaceRow } from './tables.ts'

/** The declarations of an interface. A reference in their schemas, `{ "$ref": "<entity>" }`, names an entity. */
export const interfaceDefinition = {
  title: { type: 'string', maxLength: 64 },
  description: { type: 'string', maxLength: 256 },
  entities: entityDefinitions,
  events: eventDefinitions,
  actions: actionDefinitions,
  channels: {
    type: 'object',
    additionalProperties: {
      ...closedObject(
        {
          messages: {
            type: 'object',
            additionalProperties: { ...closedObject({ schema: jsonSchema }), nullable: true },
          },
        },
        words,
      ),
      nullable: true,
    },
  },
  nameTemplate: {
    ...closedObject({
      script: { type: 'string', maxLength: 2000 },
      language: { type: 'string', maxLength: 200 },
    }),
    nullable: true,
  },
  attributes,
} as const

export const interfaceDefinitionSchema = closedObject({}, interfaceDefinition)

/** The fields of an interface, at its creation and in updates. */
export const interfaceFields = {
  ...interfaceDefinition,
  public: { type: 'boolean', description: 'Whether all workspaces of the platform see it; default: false.' },
} as const

/** An interface, as lists show it. */
export const interfaceSummary = closedObject({
  id: { type: 'string', description: 'The id of this version of the interface.' },
  createdAt: { type: 'string', format: 'date-time' },
  updatedAt: { type: 'string', format: 'date-time' },
  name: { type: 'string' },
  version: { type: 'string' },
  title: { type: 'string' },
  description: { type: 'string' },
  iconUrl: { type: 'string' },
  readmeUrl: { type: 'string' },
  public: { type: 'boolean' },
})

/** An interface in full. Published clients read nested fields without checks, so every map is always present. */
export const interfaceOutput = {
  type: 'object',
  additionalProperties: false,
  required: [...interfaceSummary.required, 'entities', 'events', 'actions', 'channels'],
  properties: { ...interfaceDefinition, ...interfaceSummary.properties },
} as const

export function toInterfaceSummary(row: InterfaceRow): Infer<typeof interfaceSummary> {
  const { title = row.name, description = '' }: Infer<typeof interfaceDefinitionSchema> = row.definition
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    name: row.name,
    version: row.version,
    title,
    description,
    iconUrl: '',
    readmeUrl: '',
    public: row.visibility === 'public',
  }
}

export function toInterface(row: InterfaceRow): Infer<typeof interfaceOutput> {
  const definition: Infer<typeof interfaceDefinitionSchema> = row.definition
  return { entities: {}, events: {}, actions: {}, channels: {}, ...definition, ...toInterfaceSummary(row) }
}

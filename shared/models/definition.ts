import { closedObject } from '../schema.ts'
/**
 * The declarations of bots and integrations, with the names of the published API. Entries of maps are nullable: in a
 * change, null removes the entry.
 */

/** A JSON object of any shape, for instance a JSON Schema. */
export const anyObject = { type: 'object', additionalProperties: true } as const

const title = { type: 'string', maxLength: 64 } as const
const description = { type: 'string', maxLength: 256 } as const
export const words = { title, description } as const

/** A JSON Schema of draft 7; it is checked at upload (`shared/code/accept-schema.ts`). */
export const jsonSchema = { ...anyObject, description: 'A JSON Schema.' } as const

/** Texts by name. */
export const attributes = {
  type: 'object',
  additionalProperties: { type: 'string', nullable: true, maxLength: 200 },
} as const

/** The tags that resources of one kind may have. */
export const tagDefinitions = {
  type: 'object',
  additionalProperties: { ...closedObject({}, words), nullable: true },
} as const

export const taggedDefinition = closedObject({}, { tags: tagDefinitions })

export const eventDefinitions = {
  type: 'object',
  additionalProperties: { ...closedObject({ schema: jsonSchema }, { ...words, attributes }), nullable: true },
} as const

const withSchema = closedObject({ schema: jsonSchema })

export const actionDefinitions = {
  type: 'object',
  additionalProperties: {
    ...closedObject(
      { input: withSchema, output: withSchema },
      { ...words, billable: { type: 'boolean' }, cacheable: { type: 'boolean' }, attributes },
    ),
    nullable: true,
  },
} as const

export const entityDefinitions = {
  type: 'object',
  additionalProperties: { ...closedObject({ schema: jsonSchema }, words), nullable: true },
} as const

const stateFields = {
  schema: jsonSchema,
  expiry: {
    type: 'integer',
    nullable: true,
    minimum: 1,
    description: 'Milliseconds after the last access until the state expires.',
  },
} as const

export const botStateDefinitions = {
  type: 'object',
  additionalProperties: {
    type: 'object',
    nullable: true,
    additionalProperties: false,
    required: ['type', 'schema'],
    properties: { type: { enum: ['conversation', 'user', 'bot', 'workflow'] }, ...stateFields },
  },
} as const

export const integrationStateDefinitions = {
  type: 'object',
  additionalProperties: {
    type: 'object',
    nullable: true,
    additionalProperties: false,
    required: ['type', 'schema'],
    properties: { type: { enum: ['conversation', 'user', 'integration'] }, ...stateFields },
  },
} as const

const creation = closedObject(
  {},
  { enabled: { type: 'boolean' }, requiredTags: { type: 'array', items: { type: 'string' } } },
)

export const userDefinition = closedObject({}, { tags: tagDefinitions, creation })

export const channelDefinitions = {
  type: 'object',
  additionalProperties: {
    type: 'object',
    nullable: true,
    additionalProperties: false,
    properties: {
      ...words,
      messages: {
        type: 'object',
        additionalProperties: { ...withSchema, nullable: true },
      },
      conversation: userDefinition,
      message: taggedDefinition,
    },
  },
} as const

const script = { type: 'string', nullable: true, maxLength: 2000 } as const

const configurationFields = {
  ...words,
  schema: jsonSchema,
  identifier: closedObject({}, { required: { type: 'boolean' }, linkTemplateScript: script }),
} as const

/** The configuration that an integration accepts at its installation. */
export const configurationDefinition = closedObject({}, configurationFields)

export const configurationDefinitions = {
  type: 'object',
  additionalProperties: { ...configurationDefinition, nullable: true },
} as const

export const identifierDefinition = closedObject({}, { extractScript: script, fallbackHandlerScript: script })

/** Secrets by name; code reads them from its environment as `SECRET_<NAME>`. */
export const secrets = {
  type: 'object',
  propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]{0,199}$' },
  additionalProperties: { type: 'string', nullable: true, maxLength: 20_000 },
  description: 'Values by name; null removes one. The code sees them in its environment as SECRET_<NAME>.',
} as const

import { closedObject, type Infer } from '../schema.ts'
import {
  actionDefinitions,
  anyObject,
  botStateDefinitions,
  eventDefinitions,
  jsonSchema,
  taggedDefinition,
} from './definition.ts'

/** Integrations that stand behind a plugin, by the plugin's names. */
const backing = {
  integrationId: { type: 'string', maxLength: 200 },
  integrationAlias: { type: 'string', maxLength: 200 },
} as const

const recurringEvent = closedObject({
  schedule: closedObject({ cron: { type: 'string', maxLength: 200, description: 'In UTC.' } }),
  type: { type: 'string', minLength: 1, maxLength: 200 },
  payload: anyObject,
})

/** The events that a bot receives by schedule. */
export const recurringEvents = {
  type: 'object',
  // Beside the events that a bot may have, those that it had, which published clients remove.
  maxProperties: 100,
  additionalProperties: { ...recurringEvent, nullable: true },
} as const

export type RecurringEvents = Infer<typeof recurringEvents>

/** The plugins in a bot's bundle, by alias. The bundle has their code and configuration; these are their declarations. */
const plugins = {
  type: 'object',
  maxProperties: 100,
  description: 'By alias; null removes one.',
  additionalProperties: {
    ...closedObject(
      { id: { type: 'string', maxLength: 200 } },
      {
        enabled: { type: 'boolean', description: 'Default: true.' },
        configuration: anyObject,
        interfaces: {
          type: 'object',
          maxProperties: 30,
          additionalProperties: {
            ...closedObject(
              { integrationId: backing.integrationId },
              {
                integrationAlias: backing.integrationAlias,
                integrationInterfaceAlias: { type: 'string', maxLength: 200 },
              },
            ),
            nullable: true,
          },
        },
        integrations: {
          type: 'object',
          maxProperties: 30,
          additionalProperties: { ...closedObject(backing), nullable: true },
        },
        definition: {
          ...closedObject({}, { recurringEvents }),
          description:
            'The definition of the plugin, as the command line sends it; only its recurring events are kept.',
        },
      },
    ),
    nullable: true,
  },
} as const

/** The declarations of bots made with the public SDK, without code, secrets, integrations and recurring events. */
export const botDefinition = {
  description: { type: 'string', maxLength: 2000 },
  tags: { type: 'object', additionalProperties: { type: 'string', nullable: true, maxLength: 500 } },
  user: taggedDefinition,
  conversation: taggedDefinition,
  message: taggedDefinition,
  states: botStateDefinitions,
  events: eventDefinitions,
  actions: actionDefinitions,
  configuration: closedObject({}, { data: anyObject, schema: jsonSchema }),
  plugins,
  subscriptions: closedObject(
    {},
    {
      events: {
        type: 'object',
        nullable: true,
        additionalProperties: { ...anyObject, nullable: true },
        description: 'The types of the events that the bot receives, as in `event.type`; null or absent for all.',
      },
    },
  ),
  medias: {
    type: 'array',
    items: closedObject({ url: { type: 'string', maxLength: 2000 }, name: { type: 'string', maxLength: 200 } }),
  },
  dev: { type: 'boolean' },
  type: { enum: ['studio', 'adk', 'desk'] },
  alwaysAlive: { type: 'boolean' },
  maxExecutionTime: { type: 'integer', minimum: 1 },
} as const

export const botDefinitionSchema = closedObject({}, botDefinition)

export type BotDefinition = Infer<typeof botDefinitionSchema>

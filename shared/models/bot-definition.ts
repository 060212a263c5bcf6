import { closedObject, type Infer } from '../schema.ts'
import {
  actionDefinitions,
  anyObject,
  botStateDefinitions,
  eventDefinitions,
  jsonSchema,
  taggedDefinition,
} from './definition.ts'

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

/** The events that a bot receives by schedule. */
export const recurringEvents = {
  type: 'object',
  additionalProperties: {
    ...closedObject({
      schedule: closedObject({ cron: { type: 'string', maxLength: 200, description: 'In UTC.' } }),
      type: { type: 'string', minLength: 1, maxLength: 200 },
      payload: anyObject,
    }),
    nullable: true,
  },
} as const

import { join } from 'node:path'
import { destination } from '#shared/flows/fields.ts'
import { flow } from '#shared/flows/flow.ts'
import { describedCards, type FlowSchema } from './flow-schemas.ts'

export const flowSchemaFile = join(import.meta.dirname, '..', '..', 'bot', 'flow.schema.json')

/** A schema as editors read it. */
type JsonSchema = Record<string, unknown>

/**
 * Makes the JSON Schema (draft 7) of a flow with the fields of each type of card, for editors: it completes names and shows
 * descriptions while a person writes. The platform examines flows itself, and more of them.
 */
export function writeFlowSchema(): string {
  const schema = standard(flow)
  const properties = schema['properties'] as Record<string, JsonSchema>
  const { properties: ofNode } = properties['nodes']!['items'] as { properties: Record<string, JsonSchema> }
  ofNode['cards']!['items'] = {
    type: 'object',
    required: ['id', 'type'],
    properties: { type: { enum: describedCards.map(({ type }) => type), description: 'The type of the card.' } },
    allOf: describedCards.map((card) => ({
      if: { properties: { type: { const: card.type } } },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: cardSchema(card),
    })),
  }
  const whole = { $schema: 'http://json-schema.org/draft-07/schema#', title: 'A flow', ...schema }
  return `${JSON.stringify(whole, null, 2)}\n`
}

function cardSchema({ description, required, optional }: (typeof describedCards)[number]): JsonSchema {
  const { properties: common } = (flow.properties.nodes.items.properties.cards.items ?? {}) as unknown as FlowSchema
  const fields = Object.entries({ ...common, ports: ports(), ...required, ...optional })
  return {
    description,
    required: Object.keys(required),
    additionalProperties: false,
    properties: {
      type: { description },
      ...Object.fromEntries(fields.filter(([name]) => name !== 'type').map(([name, one]) => [name, standard(one)])),
    },
  }
}

function ports(): FlowSchema {
  return {
    type: 'object',
    additionalProperties: destination,
    description: 'Where the card leads, by the names of its ports.',
  }
}

/** JSON Schema has no `nullable`. Titles word the platform's errors, and would stand in the place of descriptions. */
function standard({ nullable, title: _title, ...schema }: FlowSchema): JsonSchema {
  const { type, properties, additionalProperties, items, anyOf } = schema
  return {
    ...schema,
    ...(nullable && { type: [type, 'null'] }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, standard(one)])),
    }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: standard(additionalProperties) }),
    ...(items && { items: standard(items) }),
    ...(anyOf && { anyOf: anyOf.map(standard) }),
  }
}

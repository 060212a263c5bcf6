import { join } from 'node:path'
import { cardSchemas } from '#shared/flows/check-flows.ts'
import { flow } from '#shared/flows/flow.ts'
import type { FlowSchema } from './flow-schemas.ts'

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
    properties: { type: { enum: cardSchemas.map(({ type }) => type), description: 'The type of the card.' } },
    allOf: cardSchemas.map(({ type, description, schema: ofCard }) => ({
      if: { properties: { type: { const: type } } },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { description, ...standard(ofCard as unknown as FlowSchema) },
    })),
  }
  const whole = { $schema: 'http://json-schema.org/draft-07/schema#', title: 'A flow', ...schema }
  return `${JSON.stringify(whole, null, 2)}\n`
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

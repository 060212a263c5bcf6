import { chatPayload, isRecord } from './payload.ts'

/** The payload of a message without its type, which stands beside it in a definition. */
function withoutType({ properties, required }: (typeof chatPayload.oneOf)[number]) {
  const others = Object.entries(properties).filter(([name]) => name !== 'type')
  const needed = required.filter((name) => name !== 'type')
  return { schema: { type: 'object', properties: forTypes(Object.fromEntries(others)), required: needed } }
}

/** A schema with its alternatives as `anyOf`: published command lines make no types of `oneOf`. */
function forTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(forTypes)
  if (!isRecord(schema)) return schema
  const { oneOf, discriminator: _unused, ...others } = schema
  return {
    ...Object.fromEntries(Object.entries(others).map(([name, value]) => [name, forTypes(value)])),
    ...(oneOf !== undefined && { anyOf: forTypes(oneOf) }),
  }
}

/** The messages of the chat and of the web chat, as definitions of channels declare them. */
export const chatMessages = Object.fromEntries(
  chatPayload.oneOf.map((variant) => [variant.properties.type.const, withoutType(variant)]),
)

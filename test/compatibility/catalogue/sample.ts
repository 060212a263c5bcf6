import { textOfPattern } from './text-of-pattern.ts'

/** The keywords of a JSON Schema that a sample follows. */
export interface Schema {
  type?: string
  const?: unknown
  enum?: unknown[]
  default?: unknown
  format?: string
  minLength?: number
  maxLength?: number
  pattern?: string
  minimum?: number
  minItems?: number
  items?: Schema
  required?: string[]
  properties?: Record<string, Schema>
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

/** Texts of no account, by format. */
const texts: Record<string, string> = {
  uri: 'https://service.example',
  url: 'https://service.example',
  email: 'nobody@service.example',
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  hostname: 'service.example',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uuid: '00000000-0000-4000-8000-000000000000',
}

/** A value that a schema of the catalogue accepts, with the required fields only. */
export function sampleOf(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  if (schema.enum) return schema.enum[0]
  const [first] = schema.anyOf ?? schema.oneOf ?? []
  if (first) return sampleOf(first)
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((one) => sampleOf(one) as object)) as unknown
  switch (schema.type) {
    case 'object': {
      const { required = [], properties = {} } = schema
      return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]))
    }
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items ?? {}))
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return false
    case undefined:
    case 'string':
      return textOf(schema)
    default:
      return null
  }
}

function textOf({ format = '', pattern, minLength = 0, maxLength = Infinity }: Schema): string {
  const text = texts[format] ?? (pattern === undefined ? 'none' : textOfPattern(pattern))
  return text.padEnd(minLength, 'x').slice(0, maxLength)
}

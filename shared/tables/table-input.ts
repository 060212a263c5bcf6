import { maxColumnName } from './definition.ts'

/** The path parameter of a table. */
export const tableReference = { type: 'string', minLength: 1, description: 'The id or the name of a table.' } as const

/** Longer than the 35 characters that one published tool allows, as long as another one makes them. */
export const tableName = {
  type: 'string',
  maxLength: 50,
  pattern: '^[A-Za-z_$][A-Za-z0-9_$]*Table$',
  description: 'Letters, digits and underscores; it ends in `Table`.',
} as const

export const columnName = { type: 'string', minLength: 1, maxLength: maxColumnName } as const

export const schemaInput = {
  type: 'object',
  description:
    'A JSON Schema with `properties`, a map of columns to JSON Schemas, or a map of columns to example values.',
} as const

const tagName = { type: 'string', minLength: 1, maxLength: 200 } as const

/** The properties of a new table, beside its name. */
export const newTableFields = {
  factor: { type: 'integer', minimum: 1, maximum: 30 },
  frozen: { type: 'boolean' },
  keyColumn: { type: ['string', 'null'], minLength: 1, maxLength: maxColumnName },
  tags: {
    type: 'object',
    maxProperties: 100,
    propertyNames: tagName,
    additionalProperties: { type: 'string', maxLength: 500 },
  },
  isComputeEnabled: { type: 'boolean' },
} as const

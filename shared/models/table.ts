import { closedObject, type Infer } from '../schema.ts'
import { computedState, type Column, type Columns } from './column.ts'
import type { BotTableRow } from './tables.ts'
import { tags } from './tags.ts'

/** The fields of every row, which no column may be named like. */
export const systemColumns = ['id', 'createdAt', 'updatedAt', 'computed', 'stale', 'similarity'] as const

/** Kilobytes of a row's JSON for each unit of `factor`. */
export const rowKilobytes = 4

/** The most that one call creates, updates, upserts, finds or deletes by id. */
export const maxRows = 1000

/** A column in answers. */
const column = {
  type: 'object',
  description: 'A JSON Schema of its values, with its settings in `x-zui`.',
} as const

/** A table in answers. */
export const table = closedObject(
  {
    id: { type: 'string' },
    name: { type: 'string' },
    schema: closedObject(
      {
        type: { const: 'object' },
        properties: { type: 'object', additionalProperties: column },
        additionalProperties: { type: 'boolean' },
      },
      { required: { type: 'array', items: { type: 'string' } } },
    ),
    factor: { type: 'integer' },
    frozen: { type: 'boolean' },
    keyColumn: { type: ['string', 'null'] },
    tags,
    isComputeEnabled: { type: 'boolean' },
    createdAt: { type: 'string', format: 'date-time' },
    updatedAt: { type: 'string', format: 'date-time' },
  },
  {},
)

export type Table = Infer<typeof table>

export function toTable(row: BotTableRow): Table {
  const columns = inOrder(row.columns).map(([name, { field: _field, ...shown }]) => [name, shown] as const)
  return {
    id: row.id,
    name: row.name,
    schema: {
      type: 'object',
      properties: Object.fromEntries(columns),
      additionalProperties: true,
      ...(row.required.length > 0 && { required: row.required }),
    },
    factor: row.factor,
    frozen: row.is_frozen,
    keyColumn: row.key_column,
    tags: row.tags,
    isComputeEnabled: row.is_compute_enabled,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

/** The columns in the order in which they are shown, which `jsonb` does not keep. */
export function inOrder(columns: Columns): [name: string, column: Column][] {
  return Object.entries(columns).toSorted(([, one], [, other]) => one['x-zui'].index - other['x-zui'].index)
}

/** A row in answers: its columns are further fields. */
export const tableRow = {
  type: 'object',
  additionalProperties: true,
  required: ['id', 'computed'],
  properties: {
    id: { type: 'integer' },
    createdAt: { type: 'string', format: 'date-time' },
    updatedAt: { type: 'string', format: 'date-time' },
    computed: {
      type: 'object',
      additionalProperties: computedState,
    },
    stale: { type: 'array', items: { type: 'string' } },
    similarity: { type: 'number' },
  },
} as const

export type TableRow = Infer<typeof tableRow>

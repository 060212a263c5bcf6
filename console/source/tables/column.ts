import type { Table } from '../api/types.ts'

/** A column of a table, as far as this page shows it. */
export interface TableColumn {
  name: string
  kind: Kind
  isNullable: boolean
  isRequired: boolean
  isSearchable: boolean
  /** The only values that it takes, where they are texts. */
  choices: string[] | undefined
}

/** The types of columns by their names for people. `any` is a column without one type. */
export const kinds = {
  string: 'text',
  number: 'number',
  boolean: 'true or false',
  time: 'time',
  object: 'object',
  array: 'list',
  any: 'any value',
} as const

export type Kind = keyof typeof kinds

interface ColumnSchema {
  type?: string
  format?: string
  nullable?: boolean
  enum?: unknown[]
  'x-zui'?: { index?: number; searchable?: boolean }
}

/** The columns of a table in their order. */
export function columnsOf({ schema }: Table): TableColumn[] {
  const columns = Object.entries(schema.properties as Record<string, ColumnSchema>)
  const place = (column: ColumnSchema) => column['x-zui']?.index ?? Infinity
  return columns
    .toSorted(([, one], [, other]) => place(one) - place(other))
    .map(([name, column]) => ({
      name,
      kind: kindOf(column),
      isNullable: column.nullable ?? true,
      isRequired: schema.required?.includes(name) ?? false,
      isSearchable: column['x-zui']?.searchable === true,
      choices: choicesOf(column),
    }))
}

function kindOf({ type, format }: ColumnSchema): Kind {
  if (type === 'string') return format === 'date-time' ? 'time' : 'string'
  return type === 'number' || type === 'boolean' || type === 'object' || type === 'array' ? type : 'any'
}

const maxChoices = 50

function choicesOf({ type, enum: values }: ColumnSchema): string[] | undefined {
  if (type !== 'string' || !values || values.length > maxChoices) return undefined
  const texts = values.filter((value) => value !== null)
  return texts.every((value): value is string => typeof value === 'string') ? texts : undefined
}

/** The schema of a new column. */
export function schemaOfKind(kind: Kind, isSearchable: boolean): object {
  return {
    ...(kind !== 'any' && { type: kind === 'time' ? 'string' : kind }),
    ...(kind === 'time' && { format: 'date-time' }),
    'x-zui': { searchable: isSearchable },
  }
}

/** A change of a table's columns that names one of them. `null` removes it. */
export function columnChange(name: string, schema: object | null): object {
  return { schema: { type: 'object', properties: Object.fromEntries([[name, schema]]) } }
}

/** Whether rows can be in the order of a column. */
export function hasOrder(kind: Kind): boolean {
  return kind !== 'object' && kind !== 'array'
}

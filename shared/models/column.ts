import { closedObject, type Infer } from '../schema.ts'

/** How a column is shown, searched and computed: `x-zui` of the published clients. */
export interface ColumnSettings {
  /** Its place among the columns. */
  index: number
  searchable?: boolean
  hidden?: boolean
  computed?: Record<string, unknown>
  [setting: string]: unknown
}

/** A column as it is stored: a JSON Schema of its values. */
export interface Column {
  /** Absent of a union. */
  type?: string
  'x-zui': ColumnSettings
  /** Whether it may be null; a row without a value has null. */
  nullable: boolean
  /**
   * The key of its values in `data` of its rows. It is internal, and a renamed column keeps it: what reads or filters
   * `data` uses it instead of the name.
   */
  field: string
  format?: string
  pattern?: string
  enum?: unknown[]
  items?: Record<string, unknown>
  properties?: Record<string, Record<string, unknown>>
  [keyword: string]: unknown
}

/** The columns of a table by name. */
export type Columns = Readonly<Record<string, Column>>

export const computedState = closedObject(
  { status: { type: 'string' } },
  { error: { type: 'string' }, updatedBy: { type: 'string' }, updatedAt: { type: 'string', format: 'date-time' } },
)

/** The state of a computed value. */
export type ComputedState = Infer<typeof computedState>

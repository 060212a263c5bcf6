import { tableRow } from '../models/table.ts'

/** The numbers of rows, of those with stale computed values, and of those that wait for the index of the search. */
export const rowCounts = {
  rows: { type: 'integer' },
  stale: { type: 'integer' },
  indexing: { type: 'integer' },
} as const

export const rowList = { type: 'array', items: tableRow } as const

/** Warnings and errors of a write of rows, reported beside the rows. */
export const rowReports = {
  warnings: { type: 'array', items: { type: 'string' }, description: 'Columns that the table lacks.' },
  errors: { type: 'array', items: { type: 'string' }, description: 'Rows that were not stored, and why.' },
} as const

import { closedObject, type Infer } from '../schema.ts'
import type { TableJobRow } from './tables.ts'

/** A job of a table in answers. */
export const tableJob = closedObject(
  {
    id: { type: 'string' },
    botId: { type: 'string' },
    tableId: { type: 'string' },
    type: { enum: ['import', 'export'] },
    status: { enum: ['pending', 'in_progress', 'finalizing', 'completed', 'failed'] },
    progress: { type: 'integer', minimum: 0, maximum: 100, description: 'In percent.' },
    inputFileId: { type: ['string', 'null'] },
    outputFileId: { type: ['string', 'null'], description: 'The file of a completed export.' },
    createdAt: { type: 'string', format: 'date-time' },
    updatedAt: { type: 'string', format: 'date-time' },
  },
  {
    failedStatusReason: { type: 'string', description: 'Why it failed.' },
    errors: {
      type: 'array',
      items: { type: 'string' },
      description: 'Records that were not stored, and why: the first 100.',
    },
  },
)

export type TableJob = Infer<typeof tableJob>

export function toTableJob(row: TableJobRow): TableJob {
  return {
    id: row.id,
    botId: row.bot_id,
    tableId: row.table_id,
    type: row.type,
    status: row.status,
    progress: row.progress,
    inputFileId: row.input_file_id,
    outputFileId: row.output_file_id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    ...(row.failed_status_reason !== null && { failedStatusReason: row.failed_status_reason }),
    ...(row.errors.length > 0 && { errors: row.errors }),
  }
}

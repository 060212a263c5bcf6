import { closedObject, type Infer } from '#shared/schema.ts'

/**
 * A backup is one gzip file of lines of UTF-8 text: the header; for each table a line with its name and columns, its
 * rows as COPY prints them, and the line `\.`; and the manifest. `zcat` shows it.
 */
const names = { type: 'array', items: { type: 'string' } } as const
const count = { type: 'integer', minimum: 0 } as const

/** The first line. */
export const headerSchema = closedObject({
  isobotBackup: { const: 1 },
  /** The version of the code that took the backup. */
  version: { type: 'string' },
  /** A time right before the snapshot, by the clock of PostgreSQL. */
  takenAt: { type: 'string', format: 'date-time' },
  /** The migrations of the database, in their order. */
  migrations: names,
  /** An encrypted value, which only the right ISOBOT_SECRET decrypts. */
  secretCheck: { type: 'string' },
})
export type BackupHeader = Infer<typeof headerSchema>

/** The line before the rows of a table. */
export const tableSchema = closedObject({ table: { type: 'string' }, columns: names, types: names })
export type BackupTable = Infer<typeof tableSchema>

/** The last line. */
export const manifestSchema = closedObject({
  /** The number of rows of each table. */
  rows: { type: 'object', additionalProperties: count },
  /** The last number that each column with automatic numbers has given, by table and column. */
  numbers: {
    type: 'array',
    items: closedObject({ table: { type: 'string' }, column: { type: 'string' }, last: { type: 'string' } }),
  },
  /** SHA-256 of everything before this line, in hexadecimal. */
  sha256: { type: 'string' },
})
export type BackupManifest = Infer<typeof manifestSchema>

/** The line after the rows of a table. COPY prints no such line: it escapes backslashes. */
export const endOfRows = '\\.\n'

/** The owner of the encrypted value in the header. */
export const secretCheckOwner = 'backup'

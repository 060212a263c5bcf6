import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import knex, { type Knex } from 'knex'
import { DatabaseError, escapeIdentifier, type Client, type ClientBase } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Config } from '#shared/config/config.ts'
import { wordsOf } from '#shared/connectivity/connect-errors.ts'
import { decryptJson } from '#shared/secrets.ts'
import { connectionSettings } from '#shared/store/database.ts'
import { adoptVectorType } from '#shared/store/vector-type.ts'
import { migrate, migrateTo, migrationLockKey, migrations } from '../../migrations/migrations.ts'
import { noteUnfinishedRestore, readUnfinishedRestore } from '../../migrations/unfinished-restore.ts'
import { failed } from '../failure.ts'
import { copyTarget, listAllTables, listTables, transactionSettings, suspendChecks } from './catalog.ts'
import { secretCheckOwner, type BackupHeader, type BackupManifest, type BackupTable } from './format.ts'
import type { BackupReader } from './read-backup.ts'

/** A backup that has been restored. */
export interface RestoredBackup {
  takenAt: string
  version: string
  rows: number
  tables: number
  /** Events that the workers will handle. */
  waitingEvents: number
  /** Contents of files that the backup only refers to, because a bucket has them. */
  contentsElsewhere: number
}

export interface RestoreOptions {
  /** Restore the backup although its encrypted values cannot be read. */
  isSecretLost: boolean
  /** Called before each step. */
  report?: (step: string) => void
}

/** The table with derived values whose type depends on the server: workers make them again. */
const vectorTable = 'passage_vectors'

/** The counts of the rows that a restoration has written. */
type WrittenRows = Pick<RestoredBackup, 'rows' | 'tables' | 'waitingEvents' | 'contentsElsewhere'>

/** A restoration whose rows are committed and whose newer migrations have not run. */
interface UnfinishedRestore {
  takenAt: string
  /** Differs in every backup. */
  secretCheck: string
  written: WrittenRows
}

/**
 * Restores a backup into an empty database, in one transaction: the migrations of the backup, then its rows. Afterwards
 * the newer migrations run; a restoration that ended before them is continued.
 *
 * @throws Failure when the database is not empty, or the backup is invalid, not whole, newer than this code, or of another
 *   secret; the database is empty then. Also when the newer migrations fail, after the rows are restored
 */
export async function restoreBackup(
  config: Config,
  reader: BackupReader,
  { isSecretLost, report }: RestoreOptions,
): Promise<RestoredBackup> {
  const header = await reader.readHeader()
  assertKnown(header)
  if (!isSecretLost) await assertSecret(config, header)
  const connection = connectionSettings(config.database)
  const db = knex({ client: 'pg', connection, pool: { min: 0, max: 1 }, log: { warn() {} } })
  let restored: WrittenRows
  try {
    restored = await db.transaction(async (transaction) => {
      const client = await connectionOf(transaction)
      await client.query(transactionSettings)
      await client.query('select pg_advisory_xact_lock($1)', [migrationLockKey])
      const unfinished = await findUnfinished(client, header)
      if (unfinished) return unfinished
      await assertEmpty(client)
      report?.('Creating the tables')
      await migrateTo(transaction, header.migrations)
      const written = await restoreTables(transaction, client, reader, report)
      const note: UnfinishedRestore = { takenAt: header.takenAt, secretCheck: header.secretCheck, written }
      await noteUnfinishedRestore(client, JSON.stringify(note))
      return written
    })
  } finally {
    await db.destroy()
  }
  report?.('Migrating')
  await migrate(config.database.url, config.database).catch((cause: unknown) => {
    throw failed(
      `All rows are restored, but the migrations to this version have failed: ${wordsOf(cause)}. Before the processes ` +
        'start, restore the same backup again, which runs only the migrations',
      { cause },
    )
  })
  const { takenAt, version } = header
  return { takenAt, version, ...restored }
}

function assertKnown({ migrations: names, version }: BackupHeader): void {
  const unknown = names.filter((name) => !Object.hasOwn(migrations, name))
  if (unknown.length === 0) return
  throw failed(
    `The backup was taken by version ${version}, which is newer than this code: it has the migrations ` +
      `${unknown.join(', ')}. Restore it with that version`,
  )
}

async function assertSecret({ secret }: Config, { secretCheck }: BackupHeader): Promise<void> {
  try {
    await decryptJson(secret, secretCheckOwner, secretCheck)
  } catch (cause) {
    // As of a file that an editor or `echo` has written.
    const isSpaced = secret.current.trim() !== secret.current
    const hint = isSpaced ? '. The one that is set begins or ends with a space or a line break: write it without' : ''
    throw failed(
      `The backup was taken with another ISOBOT_SECRET: set that one${hint}. If it is lost, --lost-secret restores ` +
        'everything else, and secrets and configurations have to be set again',
      { cause },
    )
  }
}

/** @throws Failure when the rows of another backup wait for their migrations */
async function findUnfinished(client: ClientBase, header: BackupHeader): Promise<WrittenRows | undefined> {
  const note = await readUnfinishedRestore(client)
  if (note === null) return undefined
  const { takenAt, secretCheck, written } = JSON.parse(note) as UnfinishedRestore
  if (secretCheck === header.secretCheck) return written
  throw failed(
    `The database has the rows of another backup, of ${takenAt}, whose restoration ended before the migrations. Restore ` +
      'that one again, which runs only the migrations, or restore into a new database',
  )
}

async function assertEmpty(client: ClientBase): Promise<void> {
  const [table, ...others] = await listAllTables(client)
  if (table === undefined) return
  throw failed(
    `The database is not empty: it has the table ${table}${others.length > 0 ? ` and ${others.length} others` : ''}. ` +
      'Restore into a new database',
  )
}

async function connectionOf(transaction: Knex.Transaction): Promise<Client> {
  return (transaction.client as { acquireConnection(): Promise<Client> }).acquireConnection()
}

async function restoreTables(
  transaction: Knex.Transaction,
  client: Client,
  reader: BackupReader,
  report: RestoreOptions['report'],
) {
  const resume = await suspendChecks(client)
  const missing = new Map((await listTables(client)).map((table) => [table.table, table]))
  const written: Record<string, number> = {}
  let part = await reader.readPart()
  while ('table' in part) {
    const { table } = part
    report?.(`Restoring ${table}`)
    const own = missing.get(table)
    if (!own) throw failed(`The backup has a table that its version does not have, or twice: ${table}`)
    missing.delete(table)
    written[table] = await restoreTable(transaction, client, { part, own, reader })
    part = await reader.readPart()
  }
  assertWhole(part, written, Array.from(missing.keys()))
  for (const { table, column, last } of part.numbers) {
    await client.query('select setval(pg_get_serial_sequence(quote_ident($1), $2), $3::bigint)', [table, column, last])
  }
  report?.('Building indexes, and checking references')
  for (const statement of resume) await client.query(statement)
  // Processes may start at once, and would keep plans made for tables of unknown contents.
  report?.('Analyzing')
  await client.query(`analyze ${Object.keys(written).map(escapeIdentifier).join(', ')}`)
  const count = async (what: string) => {
    const { rows } = await client.query<{ count: number }>(`select count(*)::integer as count from ${what}`)
    return rows[0]!.count
  }
  const hasFiles = 'file_objects' in written
  return {
    rows: Object.values(written).reduce((sum, rows) => sum + rows, 0),
    tables: Object.keys(written).length,
    waitingEvents: await count(`events where status = 'pending'`),
    contentsElsewhere: hasFiles
      ? await count(`file_objects where store <> 'postgres' and completed_at is not null`)
      : 0,
  }
}

interface RestoredTable {
  /** The table as the backup has it. */
  part: BackupTable
  /** The table as the migrations made it. */
  own: BackupTable
  reader: BackupReader
}

/** @returns the number of rows in the backup */
async function restoreTable(transaction: Knex.Transaction, client: Client, table: RestoredTable): Promise<number> {
  const { part, own, reader } = table
  if (part.table === vectorTable && !(await hasSameVectors(transaction, table))) {
    // The rows of files come before.
    await transaction('files').whereNotNull('embedded_model').update({ embedded_model: null })
    return countRows(reader)
  }
  if (part.columns.toSorted().join() !== own.columns.toSorted().join()) {
    throw failed(`The table ${part.table} of the backup has other columns than its version: the backup was altered`)
  }
  const stream = client.query(copyFrom(`copy ${copyTarget(part)} from stdin`))
  try {
    await pipeline(Readable.from(reader.rows()), stream)
  } catch (cause) {
    if (!(cause instanceof DatabaseError)) throw cause
    throw failed(`The rows of ${part.table} cannot be restored: ${cause.message}`, { cause })
  }
  return stream.rowCount
}

/** Whether this server stores vectors as that of the backup did. */
async function hasSameVectors(transaction: Knex.Transaction, { part, own }: RestoredTable): Promise<boolean> {
  if (vectorType(part) === vectorType(own)) return true
  if (vectorType(own) !== 'bytea') return false
  // A nested transaction, because the user of the database may lack the permission to create the extension.
  return transaction.transaction((nested) => adoptVectorType(nested)).catch(() => false)
}

function vectorType({ columns, types }: BackupTable): string | undefined {
  return types[columns.indexOf('vector')]
}

async function countRows(reader: BackupReader): Promise<number> {
  let rows = 0
  for await (const chunk of reader.rows()) for (const byte of chunk) if (byte === 10) rows += 1
  return rows
}

function assertWhole({ rows }: BackupManifest, written: Record<string, number>, missing: string[]): void {
  const tables = Object.keys(rows)
  const differs = missing.length > 0 || tables.length !== Object.keys(written).length
  const other = tables.find((table) => rows[table] !== written[table])
  if (differs || other !== undefined) {
    throw failed(`The backup does not have all rows of ${other ?? missing.join(', ')}: it was altered`)
  }
}

import { createHash } from 'node:crypto'
import { escapeIdentifier, type Client } from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { encryptJson, type PlatformSecret } from '#shared/secrets.ts'
import { failed } from '../failure.ts'
import { readVersion } from '../version.ts'
import { copyTarget, listTables, readMigrations, readNumbers, transactionSettings } from './catalog.ts'
import { endOfRows, secretCheckOwner, type BackupHeader, type BackupManifest } from './format.ts'

/** Contents of files by the store that has them. */
export interface Contents {
  store: string
  count: number
  bytes: number
}

/** A backup that has been taken. */
export interface TakenBackup {
  takenAt: string
  rows: number
  tables: number
  contents: Contents[]
}

export interface BackupOptions {
  secret: PlatformSecret
  /** Called before the rows of each table are read. */
  report?: (table: string) => void
  /** Called at the end. */
  done: (taken: TakenBackup) => void
}

const nothing = 'The database has no tables of Isobot: there is nothing to back up'

/**
 * Reads the whole database in one snapshot, table by table, while the platform serves. Only migrations that alter
 * tables wait for it.
 *
 * @param client a connection of its own, which is left with an open transaction if the reader stops early
 * @returns the lines of a backup, in chunks
 * @throws Failure when the database is empty
 */
export async function* takeBackup(client: Client, { secret, report, done }: BackupOptions): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  const hashed = (chunk: Buffer) => {
    hash.update(chunk)
    return chunk
  }
  const tables = await listTables(client)
  if (tables.length === 0) throw failed(nothing)
  // Before the snapshot, so that everything that was acknowledged until then is in it.
  const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now')
  const takenAt = rows[0]!.now.toISOString()
  await client.query(`begin isolation level repeatable read read only; ${transactionSettings}`)
  // The snapshot begins with the first query after it: a table that is altered or emptied later has no older version.
  const names = tables.map(({ table }) => escapeIdentifier(table))
  await client.query(`lock table ${names.join(', ')} in access share mode`)
  const migrations = await readMigrations(client)
  if (migrations.length === 0) throw failed(nothing)
  if (JSON.stringify(await listTables(client)) !== JSON.stringify(tables)) {
    throw failed('The database was migrated meanwhile: run the command again')
  }
  const contents = await countContents(client, tables)

  const secretCheck = await encryptJson(secret, secretCheckOwner, {})
  const header: BackupHeader = { isobotBackup: 1, version: readVersion(), takenAt, migrations, secretCheck }
  yield hashed(line(header))
  const manifest: BackupManifest = { rows: {}, numbers: [], sha256: '' }
  for (const table of tables) {
    report?.(table.table)
    yield hashed(line(table))
    const stream = client.query(copyTo(`copy ${copyTarget(table)} to stdout`))
    for await (const chunk of stream) yield hashed(chunk as Buffer)
    yield hashed(Buffer.from(endOfRows))
    manifest.rows[table.table] = stream.rowCount
  }
  // Numbers that were given after the snapshot are skipped: no transaction takes a number back.
  manifest.numbers = await readNumbers(client)
  manifest.sha256 = hash.digest('hex')
  yield line(manifest)
  await client.query('commit')
  const total = Object.values(manifest.rows).reduce((sum, count) => sum + count, 0)
  done({ takenAt, rows: total, tables: tables.length, contents })
}

function line(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`)
}

async function countContents(client: Client, tables: { table: string }[]): Promise<Contents[]> {
  if (!tables.some(({ table }) => table === 'file_objects')) return []
  const { rows } = await client.query<Contents>(
    `select store, count(*)::integer as count, coalesce(sum(size), 0)::float8 as bytes
     from file_objects where completed_at is not null group by store order by store`,
  )
  return rows
}

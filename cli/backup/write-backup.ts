import { addAbortSignal, pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { Client } from 'pg'
import type { Config } from '#shared/config/config.ts'
import { destroySocket } from '#shared/store/connections.ts'
import { connectionSettings } from '#shared/store/database.ts'
import { writeContent } from '../write-content.ts'
import { takeBackup, type TakenBackup } from './take-backup.ts'

interface WriteOptions {
  signal: AbortSignal
  /** Called before the rows of each table are read. */
  report?: (table: string) => void
}

/**
 * Writes a backup of the platform's database to a new file that only its owner can read, or to standard output for `-`.
 * An interrupted one leaves no file.
 */
export async function writeBackup(
  { database, secret }: Config,
  path: string,
  { signal, report }: WriteOptions,
): Promise<TakenBackup> {
  const client = new Client(connectionSettings(database))
  // The statement in progress reports the loss of the connection.
  client.on('error', () => {})
  await client.connect()
  // A statement that waits, such as for the lock of a migration, ends with its connection only.
  const end = () => destroySocket(client)
  signal.addEventListener('abort', end)
  try {
    signal.throwIfAborted()
    const taken = Promise.withResolvers<TakenBackup>()
    const lines = Readable.from(takeBackup(client, { secret, ...(report && { report }), done: taken.resolve }))
    const compressed = pipeline(addAbortSignal(signal, lines), createGzip(), () => {})
    await writeContent(compressed, path, { isPrivate: true })
    return await taken.promise
  } finally {
    signal.removeEventListener('abort', end)
    await client.end()
  }
}

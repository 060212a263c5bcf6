import { open } from 'node:fs/promises'
import { addAbortSignal, pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { misused } from '../failure.ts'
import { BackupReader } from './read-backup.ts'

/**
 * Opens the file of a backup, or standard input for `-`.
 *
 * @param signal ends the reading with an error
 * @throws Failure when there is none
 */
export async function openBackup(path: string, signal: AbortSignal): Promise<BackupReader> {
  const lines = pipeline(addAbortSignal(signal, await openFile(path)), createGunzip(), () => {})
  // The reader reports it, and may begin only after it, once the database is there.
  lines.on('error', () => {})
  return new BackupReader(lines)
}

async function openFile(path: string): Promise<Readable> {
  if (path === '-') return process.stdin
  try {
    const file = await open(path)
    return file.createReadStream()
  } catch (cause) {
    throw misused(`${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

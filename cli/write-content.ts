import { createWriteStream, existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { misused } from './failure.ts'

/**
 * Writes a content to a file, or to standard output for `-`. An interrupted write leaves no file there, and a complete one is
 * on the disk.
 *
 * @param options `isPrivate`: only the owner of the file can read it
 */
export async function writeContent(
  content: AsyncIterable<string | Uint8Array>,
  path: string,
  { isPrivate = false } = {},
): Promise<void> {
  if (path === '-') return pipeline(content, process.stdout, { end: false })
  const draft = `${path}.${process.pid}.part`
  try {
    await pipeline(content, createWriteStream(draft, { flags: 'wx', flush: true, ...(isPrivate && { mode: 0o600 }) }))
    await rename(draft, path)
  } catch (cause) {
    await rm(draft, { force: true })
    throw cause
  }
}

/** @throws Failure when the path, unless it is `-`, has a file */
export function assertNewFile(path: string): void {
  if (path !== '-' && existsSync(path)) throw misused(`${path} exists already: choose another path`)
}

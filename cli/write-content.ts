import { randomBytes } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { misused } from './failure.ts'

/** Interval at which a write shows that it is in progress, by the time of its draft, and the time after which it has ended. */
const [aliveMilliseconds, deadMilliseconds] = [10_000, 60_000]

/**
 * Writes a content to a file, or to standard output for `-`. An interrupted write leaves no file there, and a complete one is
 * on the disk. The draft that a killed process has left is removed by the next write to the same path.
 *
 * @param options `isPrivate`: only the owner of the file can read it
 */
export async function writeContent(
  content: AsyncIterable<string | Uint8Array>,
  path: string,
  { isPrivate = false } = {},
): Promise<void> {
  if (path === '-') return pipeline(content, process.stdout, { end: false })
  await removeDeadDrafts(path)
  // The number of a process is not unique: containers share folders, and give their processes the same ones.
  const draft = `${path}.${randomBytes(8).toString('hex')}.part`
  const timer = setInterval(() => utimes(draft, new Date(), new Date()).catch(() => {}), aliveMilliseconds)
  try {
    await pipeline(content, createWriteStream(draft, { flags: 'wx', flush: true, ...(isPrivate && { mode: 0o600 }) }))
    await rename(draft, path)
  } catch (cause) {
    await rm(draft, { force: true })
    throw cause
  } finally {
    clearInterval(timer)
  }
}

/** The end of a draft's name, after the name of the file. */
const draftEnding = /^\.[\da-f]{16}\.part$/

/** Removes the drafts of a file that no process writes any more. The write itself reports a folder that cannot be read. */
async function removeDeadDrafts(path: string): Promise<void> {
  const [folder, name] = [dirname(path), basename(path)]
  for (const file of await readdir(folder).catch(() => [])) {
    if (!file.startsWith(name) || !draftEnding.test(file.slice(name.length))) continue
    const draft = join(folder, file)
    const { mtimeMs } = await stat(draft).catch(() => ({ mtimeMs: Infinity }))
    if (Date.now() - mtimeMs > deadMilliseconds) await rm(draft, { force: true })
  }
}

/** @throws Failure when the path, unless it is `-`, has a file */
export function assertNewFile(path: string): void {
  if (path !== '-' && existsSync(path)) throw misused(`${path} exists already: choose another path`)
}

import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { Parser, Unpack, type ReadEntry } from 'tar'
import { failed } from '../failure.ts'
import { readTar } from '../read-tar.ts'

const maxFiles = 20_000

/**
 * Unpacks an archive into a new folder, after all of its entries have been checked: only files and folders whose paths stay
 * within it, and not too many of them.
 *
 * @param path of a `.tar`, `.tar.gz` or `.tgz`
 * @throws Failure for every other archive, before anything is written
 */
export async function unpack(path: string, folder: string): Promise<void> {
  const content = await readTar(path, 'a .tgz, a folder or an npm package')
  const problem = await findProblem(content)
  if (problem !== undefined) throw failed(`${path} is not unpacked: ${problem}`)
  await mkdir(folder, { recursive: true })
  // Owners and permissions of the archive say nothing here.
  const target = new Unpack({ cwd: folder, strict: true, preserveOwner: false })
  const closed = once(target, 'close')
  target.end(content)
  await closed
}

/** Reads all entries, and returns the first problem. */
async function findProblem(content: Buffer): Promise<string | undefined> {
  let problem: string | undefined
  let entries = 0
  const parser = new Parser({
    strict: true,
    onReadEntry(entry) {
      entries += 1
      problem ??= entries > maxFiles ? `it has more than ${maxFiles} files` : problemOf(entry)
      entry.resume()
    },
  })
  const ended = new Promise<void>((resolve) => {
    parser.on('end', resolve)
    parser.on('error', (error: unknown) => {
      problem ??= `it is no valid archive: ${error instanceof Error ? error.message : String(error)}`
      resolve()
    })
  })
  parser.end(content)
  await ended
  return problem ?? (entries === 0 ? 'it has no files' : undefined)
}

function problemOf({ path, type }: ReadEntry): string | undefined {
  const name = JSON.stringify(path.slice(0, 100))
  if (!['File', 'OldFile', 'ContiguousFile', 'Directory'].includes(type)) return `${name} is a ${type}`
  const parts = path.split(/[/\\]/)
  const isOutside = /^(?:[/\\]|[a-z]:)/i.test(path) || parts.includes('..') || path.includes('\0')
  return isOutside ? `${name} leads out of the folder` : undefined
}

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { Parser, type ReadEntry } from 'tar'
import { failed, misused } from '../../failure.ts'

/** The text files of an export, by path with `/`. */
export type SourceFiles = Map<string, string>

const maxArchive = 100 * 1024 * 1024
const maxUnpacked = 256 * 1024 * 1024
const maxFile = 8 * 1024 * 1024
const maxFiles = 20_000
const maxTotal = 64 * 1024 * 1024
const maxDepth = 20

/** Only these are read: definitions and scripts. Models, media and installed packages stay where they are. */
const isRead = /\.(?:json|js)$/i
const isSkipped = /(?:^|\/)(?:node_modules|\.git|models|\.cache)(?:\/|$)/

/** Files whose content is not read, for the report. */
export interface Source {
  files: SourceFiles
  /** Paths of media and others, which the report names. */
  others: string[]
  /** Paths that were refused, and why. */
  refused: { file: string; reason: string }[]
}

/**
 * Reads an export into memory: an archive, or a folder. Nothing is extracted to the disk.
 *
 * @throws Failure when there is no such file, or it is too large
 */
export async function readSource(path: string): Promise<Source> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) throw misused(`There is no file or folder ${path}`)
  const source: Source = { files: new Map(), others: [], refused: [] }
  const collect = new Collector(source)
  if (found.isDirectory()) await readFolder(path, '', collect, 0)
  else if (found.size > maxArchive) throw tooLarge(path, maxArchive)
  else readArchive(path, await readFile(path), collect)
  return source
}

/** Adds files within the limits. */
class Collector {
  #total = 0
  #count = 0
  readonly source: Source

  constructor(source: Source) {
    this.source = source
  }

  /** Whether a file is to be read; it is noted if not. */
  wants(path: string, size: number): boolean {
    if (isSkipped.test(path)) return false
    this.#count += 1
    if (this.#count > maxFiles) throw failed(`The export has more than ${maxFiles} files`)
    if (!isRead.test(path)) {
      this.source.others.push(path)
      return false
    }
    if (size <= maxFile) return true
    this.source.refused.push({ file: path, reason: `it has more than ${maxFile / 1024 / 1024} MB` })
    return false
  }

  add(path: string, content: Buffer): void {
    this.#total += content.length
    if (this.#total > maxTotal) throw failed(`The files of the export have more than ${maxTotal / 1024 / 1024} MB`)
    this.source.files.set(path, content.toString('utf8'))
  }

  refuse(file: string, reason: string): void {
    this.source.refused.push({ file, reason })
  }
}

async function readFolder(root: string, path: string, collect: Collector, depth: number): Promise<void> {
  if (depth > maxDepth) return collect.refuse(path, `it is more than ${maxDepth} folders deep`)
  for (const entry of await readdir(join(root, path), { withFileTypes: true })) {
    const inner = path === '' ? entry.name : `${path}/${entry.name}`
    // A link could lead out of the export.
    if (entry.isSymbolicLink()) collect.refuse(inner, 'it is a link')
    else if (entry.isDirectory()) {
      if (!isSkipped.test(inner)) await readFolder(root, inner, collect, depth + 1)
    } else if (entry.isFile()) {
      const { size } = await stat(join(root, inner))
      if (collect.wants(inner, size)) collect.add(inner, await readFile(join(root, inner)))
    }
  }
}

function readArchive(path: string, packed: Buffer, collect: Collector): void {
  let unpacked: Buffer
  try {
    unpacked = packed[0] === 0x1f ? gunzipSync(packed, { maxOutputLength: maxUnpacked }) : packed
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(path, maxUnpacked)
    throw failed(`${path} is no archive: name a .tgz that v12 has exported, or a folder`, { cause })
  }
  let problem: unknown
  let entries = 0
  const parser = new Parser({
    strict: false,
    onwarn: (_code, message) => collect.refuse('', message),
    onReadEntry: (entry) => {
      entries += 1
      try {
        readEntry(entry, collect)
      } catch (error) {
        problem ??= error
        entry.resume()
      }
    },
  })
  parser.on('error', (error: unknown) => (problem ??= failed(`${path} is no valid archive`, { cause: error })))
  parser.end(unpacked)
  if (problem !== undefined) throw problem
  if (entries === 0) throw failed(`${path} is no archive: name a .tgz that v12 has exported, or a folder`)
}

function readEntry(entry: ReadEntry, collect: Collector): void {
  const path = entry.path.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '')
  const isFile = entry.type === 'File' || entry.type === 'OldFile'
  if (!isFile && entry.type !== 'Directory') collect.refuse(path, 'it is neither a file nor a folder')
  if (isFile && (path.startsWith('/') || path.split('/').includes('..'))) {
    collect.refuse(path, 'its path leaves the archive')
  } else if (isFile && collect.wants(path, entry.size)) {
    const parts: Buffer[] = []
    entry.on('data', (part: Buffer) => parts.push(part))
    entry.on('end', () => collect.add(path, Buffer.concat(parts)))
    return
  }
  entry.resume()
}

function tooLarge(path: string, most: number) {
  return failed(`${path} has more than ${most / 1024 / 1024} MB`)
}

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Parser, type ReadEntry } from 'tar'
import { failed, misused } from '../../failure.ts'
import { readTar } from '../../read-tar.ts'
import { megabyte } from '#shared/units.ts'

/** The text files of an export, by path with `/`. */
export type SourceFiles = Map<string, string>

const maxFile = 8 * megabyte
const maxFiles = 20_000
const maxTotal = 64 * megabyte
const maxDepth = 20

/** For errors about another file. */
const wanted = 'a .tgz that v12 has exported, or a folder'

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
  else readArchive(path, await readTar(path, wanted), collect)
  return source
}

/** Adds files within the limits. */
class Collector {
  #total = 0
  #count = 0
  readonly #refused = new Set<string>()
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
    this.source.refused.push({ file: path, reason: `it has more than ${maxFile / megabyte} MB` })
    return false
  }

  add(path: string, content: Buffer): void {
    this.#total += content.length
    if (this.#total > maxTotal) throw failed(`The files of the export have more than ${maxTotal / megabyte} MB`)
    this.source.files.set(path, content.toString('utf8'))
  }

  refuse(file: string, reason: string): void {
    // A damaged archive has the same fault many times.
    const key = JSON.stringify([file, reason])
    if (this.#refused.has(key)) return
    this.#refused.add(key)
    if (this.#refused.size > maxFiles) throw failed(`The export has more than ${maxFiles} parts that cannot be read`)
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

function readArchive(path: string, unpacked: Buffer, collect: Collector): void {
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
  if (entries === 0) throw failed(`${path} is no archive: name ${wanted}`)
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

import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

const root = join(import.meta.dirname, '..', '..')
/** Beside the code, so that only the owner of the code can write there. */
const usualFolder = join(root, 'node_modules', '.cache', 'sandbox-programs')
/** Where the published package has what it was built with in place of the sources; the repository has no such folder. */
export const packagedFolder = join(root, 'sandbox', 'built')
/** Changes with every package that is installed, and with it the files that an import leads to. */
const installedPackages = join(root, 'node_modules', '.package-lock.json')

/** Times of files are as coarse as this on some file systems. */
const coarseMilliseconds = 2000

export interface Built<Value> {
  /** Representable in JSON. */
  value: Value
  /** The files that it was built from, as absolute paths. */
  inputs: string[]
}

interface Kept<Value> {
  value: Value
  /** By path relative to the root: a copy of the code compares its own files. */
  hashes: Record<string, string>
}

/**
 * Builds a value, or returns the one that the package has, or that an earlier process built from the same contents of
 * the same files. A folder that cannot be written is no failure: each process builds then.
 */
export async function builtOnce<Value>(
  name: string,
  build: () => Promise<Built<Value>>,
  folder: string = usualFolder,
): Promise<Value> {
  const packaged = await readKept<Value>(join(packagedFolder, `${name}.json`))
  if (packaged) return packaged.value
  const file = join(folder, `${name}.json`)
  const kept = await readKept<Value>(file)
  if (kept && (await isCurrent(kept.hashes))) return kept.value
  const startedAt = Date.now()
  const { value, inputs } = await build()
  await keep(file, folder, startedAt, value, [...inputs, installedPackages]).catch(() => {})
  return value
}

async function readKept<Value>(file: string): Promise<Kept<Value> | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Kept<Value>
  } catch {
    return undefined
  }
}

async function isCurrent(hashes: Record<string, string>): Promise<boolean> {
  try {
    const matches = await Promise.all(
      Object.entries(hashes).map(async ([path, hash]) => (await hashOf(join(root, path))) === hash),
    )
    return matches.every(Boolean)
  } catch {
    return false
  }
}

async function keep(file: string, folder: string, startedAt: number, value: unknown, inputs: string[]): Promise<void> {
  const modified = await Promise.all(inputs.map(async (path) => (await stat(path)).mtimeMs))
  // The build may have read what the file was before.
  if (modified.some((milliseconds) => milliseconds >= startedAt - coarseMilliseconds)) return
  const hashes = Object.fromEntries(
    await Promise.all(inputs.map(async (path) => [relative(root, path), await hashOf(path)])),
  )
  await mkdir(folder, { recursive: true })
  // Other processes never see half of it.
  const unfinished = `${file}.${process.pid}`
  await writeFile(unfinished, JSON.stringify({ value, hashes }))
  await rename(unfinished, file)
}

async function hashOf(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('base64url')
}

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** The repository, from which sources and output are named. */
export const root = resolve(import.meta.dirname, '..', '..')

/** Where all output is: one directory for each state of the sources, so that none is ever changed. */
export const outputDirectory = join(root, 'console', 'dist')

/**
 * What the pages are made of: their sources, the types that the editor knows, the build itself and which libraries it
 * takes. All of it is there in production as well, and no installation changes it.
 */
const sources = ['console/source/**/*', 'console/index.html', 'bot/index.d.ts', 'api/console/build.ts', 'package.json']

/** The directory of the pages that are made of the sources as they are now, whether it is there or not. */
export async function currentOutput(): Promise<string> {
  const paths: string[] = []
  for await (const entry of glob(sources, { cwd: root, withFileTypes: true })) {
    if (entry.isFile()) paths.push(join(entry.parentPath, entry.name))
  }
  const hash = createHash('sha256')
  for (const path of paths.toSorted()) hash.update(path.slice(root.length)).update(await readFile(path))
  return join(outputDirectory, hash.digest('hex').slice(0, 12))
}

export function isBuilt(output: string): boolean {
  return existsSync(output)
}

import { createHash } from 'node:crypto'
import { glob, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** The repository; the paths of sources and output are relative to it. */
export const root = resolve(import.meta.dirname, '..', '..')

/** The built console: the page, its assets, the widget of web chats in a folder of its own, and the hash of the sources that it was built from. */
export const outputDirectory = join(root, 'console', 'dist')

/** The file of the output that holds the hash of its sources. */
export const hashFile = 'sources.sha256'

/** The sources of the console and the widget, the types that its editor knows, the build itself and the versions of the libraries. */
const sources = [
  'console/source/**/*',
  'console/widget/**/*',
  'console/index.html',
  'bot/index.d.ts',
  'api/console/{browsers,build,bundle-widget,vite-options}.ts',
  'package.json',
]

/** A hash of all sources. Unlike modification times, it survives copies, checkouts and images. */
export async function hashSources(): Promise<string> {
  const paths: string[] = []
  for await (const entry of glob(sources, { cwd: root, withFileTypes: true })) {
    if (entry.isFile()) paths.push(join(entry.parentPath, entry.name))
  }
  const hash = createHash('sha256')
  for (const path of paths.toSorted()) hash.update(path.slice(root.length)).update(await readFile(path))
  return hash.digest('hex')
}

/** Whether the output exists and was built from the sources as they are. */
export async function isBuilt(): Promise<boolean> {
  const built = await readFile(join(outputDirectory, hashFile), 'utf8').catch(() => undefined)
  return built !== undefined && built === (await hashSources())
}

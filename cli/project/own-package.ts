import { readFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { isPackaged } from '#shared/process/is-packaged.ts'
import { readVersion } from '../version.ts'

/** The folder of isobot: the repository, or the installed package. */
export const home = resolve(import.meta.dirname, '..', '..')

/**
 * How a bot's project depends on isobot in its package.json: on the version of the command line in the registry, under the
 * name that sources import. A project of a clone depends on the clone, and one of a package that was installed from a
 * file or an address depends on the same one, which need not be in the registry.
 */
export async function dependencyOf(project: string): Promise<string> {
  if (!isPackaged) return `file:${relative(project, home) || '.'}`
  const folder = /^(.*)[\\/]node_modules[\\/]/.exec(home)?.[1]
  const resolved = folder === undefined ? undefined : await readResolved(folder)
  // The paths in the lock file are relative to its root.
  if (folder !== undefined && resolved?.startsWith('file:')) {
    return `file:${relative(project, resolve(folder, resolved.slice('file:'.length)))}`
  }
  if (resolved !== undefined && !isOfRegistry(resolved)) return resolved
  return `npm:@isobot/cli@^${readVersion()}`
}

/** Where npm has installed isobot from; undefined for other package managers, and for global installations. */
async function readResolved(folder: string): Promise<string | undefined> {
  try {
    const lock = await readFile(join(folder, 'node_modules', '.package-lock.json'), 'utf8')
    const { packages } = JSON.parse(lock) as { packages: Record<string, { resolved?: string }> }
    return packages[relative(folder, home).replaceAll('\\', '/')]?.resolved
  } catch {
    return undefined
  }
}

/** A registry has packages at `<name>/-/<file>`. */
function isOfRegistry(address: string): boolean {
  return /^https?:\/\/.*\/-\/[^/]+\.tgz$/.test(address)
}

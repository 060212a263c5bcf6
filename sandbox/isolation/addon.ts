import { createRequire } from 'node:module'
import { dirname } from 'node:path'

/**
 * Path of the compiled isolated-vm for this machine. The sandbox process, which has no permission to read files, loads
 * it by this path.
 */
export function findAddon(): string {
  const entry = createRequire(import.meta.url).resolve('isolated-vm')
  const nodeGypBuild = createRequire(entry)('node-gyp-build') as { path(folder: string): string }
  return nodeGypBuild.path(dirname(entry))
}

import { createRequire } from 'node:module'
import { dirname } from 'node:path'

/** The compiled isolated-vm for this machine. The sandbox process loads it by its path, being allowed to read nothing. */
export function findAddon(): string {
  const entry = createRequire(import.meta.url).resolve('isolated-vm')
  const nodeGypBuild = createRequire(entry)('node-gyp-build') as { path(folder: string): string }
  return nodeGypBuild.path(dirname(entry))
}

import { relative, sep } from 'node:path'
import { watchFolders } from '../watch-folders.ts'

/** Files that isobot or package managers write. */
const ignored = new Set(['node_modules', 'types'])

/**
 * Whether a path in the project is no source. Hidden folders belong to tools: `.git`, and `.isobot` where a platform runs in
 * the project's folder, which writes to its database all the time.
 */
function isIgnored(path: string): boolean {
  const [first = ''] = path.split(sep)
  return first.startsWith('.') || ignored.has(first)
}

/**
 * Calls back after a change of a project's files, once for several changes at about the same time.
 *
 * @returns a handle whose disposal stops watching; resolves when the folder is being watched
 */
export function watchProject(folder: string, changed: () => void): Promise<AsyncDisposable> {
  return watchFolders([folder], (path) => isIgnored(relative(folder, path)), changed)
}

import { relative, sep } from 'node:path'
import { watchFolders } from '../watch-folders.ts'

/** Files that isobot or package managers write. */
const ignored = new Set(['node_modules', '.git', 'types', 'isobot.json'])

/**
 * Calls back after a change of a project's files, once for several changes at about the same time.
 *
 * @returns a handle whose disposal stops watching; resolves when the folder is being watched
 */
export function watchProject(folder: string, changed: () => void): Promise<AsyncDisposable> {
  return watchFolders([folder], (path) => ignored.has(relative(folder, path).split(sep)[0]!), changed)
}

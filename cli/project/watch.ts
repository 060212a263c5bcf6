import { relative, sep } from 'node:path'
import { watchFolders } from '../watch-folders.ts'

/** Written by isobot itself, or by those who install what the bot needs. */
const ignored = new Set(['node_modules', '.git', 'types', 'isobot.json'])

/**
 * Calls back when something in a project has changed, once for changes that come together.
 *
 * @returns what ends it; resolves when the folder is being watched
 */
export function watchProject(folder: string, changed: () => void): Promise<AsyncDisposable> {
  return watchFolders([folder], (path) => ignored.has(relative(folder, path).split(sep)[0]!), changed)
}

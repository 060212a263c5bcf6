import { watch } from 'chokidar'
import { relative, sep } from 'node:path'

/** Written by isobot itself, or by those who install what the bot needs. */
const ignored = new Set(['node_modules', '.git', 'types', 'isobot.json'])

/** Editors write a file in steps, and several files at once. */
const quietMilliseconds = 25

/**
 * Calls back when something in a project has changed, once for changes that come together.
 *
 * @returns what ends it; resolves when the folder is being watched
 */
export async function watchProject(folder: string, changed: () => void): Promise<AsyncDisposable> {
  const watcher = watch(folder, {
    ignoreInitial: true,
    ignored: (path) => ignored.has(relative(folder, path).split(sep)[0]!),
  })
  let timer: NodeJS.Timeout | undefined
  watcher.on('all', () => {
    clearTimeout(timer)
    timer = setTimeout(changed, quietMilliseconds)
  })
  await new Promise<void>((resolve, reject) => {
    watcher.once('ready', resolve)
    watcher.once('error', reject)
  })
  return {
    async [Symbol.asyncDispose]() {
      clearTimeout(timer)
      await watcher.close()
    },
  }
}

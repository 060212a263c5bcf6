import { watch, type ChokidarOptions } from 'chokidar'
import { failed } from './failure.ts'

/** Editors write a file in steps, and several files at once. */
const quietMilliseconds = 25

/**
 * Calls back after a change in these folders, once for several changes at about the same time.
 *
 * @param changed receives the path of the last change
 * @returns a handle whose disposal stops watching; resolves when the folders are being watched
 */
export async function watchFolders(
  folders: readonly string[],
  ignored: Exclude<ChokidarOptions['ignored'], undefined>,
  changed: (path: string) => void,
): Promise<AsyncDisposable> {
  const watcher = watch([...folders], { ignoreInitial: true, ignored })
  let timer: NodeJS.Timeout | undefined
  watcher.on('all', (_event, path) => {
    clearTimeout(timer)
    timer = setTimeout(() => changed(path), quietMilliseconds)
  })
  await new Promise<void>((resolve, reject) => {
    watcher.once('ready', resolve)
    // Beyond the start, as where a folder that appears cannot be watched, the others still are.
    watcher.on('error', (error) => reject(notWatched(folders, error)))
  }).catch(async (error: unknown) => {
    await watcher.close()
    throw error
  })
  return {
    async [Symbol.asyncDispose]() {
      clearTimeout(timer)
      await watcher.close()
    },
  }
}

function notWatched(folders: readonly string[], cause: unknown): Error {
  const isTooMany = cause instanceof Error && 'code' in cause && ['ENOSPC', 'EMFILE'].includes(String(cause.code))
  const remedy = isTooMany
    ? 'it has more folders than the system lets a user watch. Raise fs.inotify.max_user_watches, or move large folders out of it'
    : String(cause)
  return failed(`${folders.join(', ')} cannot be watched: ${remedy}`, { cause })
}

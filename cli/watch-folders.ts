import { watch, type ChokidarOptions } from 'chokidar'

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
    watcher.once('error', reject)
  })
  return {
    async [Symbol.asyncDispose]() {
      clearTimeout(timer)
      await watcher.close()
    },
  }
}

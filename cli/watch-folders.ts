import { watch, type ChokidarOptions } from 'chokidar'

/** Editors write a file in steps, and several files at once. */
const quietMilliseconds = 25

/**
 * Calls back when something in these folders has changed, once for changes that come together.
 *
 * @param changed gets the path of the last change
 * @returns stops watching when it is disposed of; resolves when the folders are being watched
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

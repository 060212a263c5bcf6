import type { Stats } from 'node:fs'
import { relative } from 'node:path'
import type { Child, Exit } from './children.ts'
import { watchFolders } from '../watch-folders.ts'

export interface ReloadOptions {
  /** The process's name in messages. */
  name: string
  /** The folders of its sources. */
  folders: readonly string[]
  /** Starts the process. */
  launch: () => Promise<Child>
  /** Whether the process may finish its work while its successor runs, instead of being killed first. */
  mayOverlap: boolean
}

/** Ignores the temporary files that editors write beside the sources. */
function isNoSource(path: string, stats?: Stats): boolean {
  return stats?.isFile() === true && !/\.(ts|js)$/.test(path)
}

/**
 * Starts a process, and restarts it whenever one of its sources is saved. After a process has ended by itself, for
 * instance because of a syntax error, the next save starts it again.
 *
 * @returns a handle of the current process, which exits only when it is stopped or killed
 */
export async function startReloading({ name, folders, launch, mayOverlap }: ReloadOptions): Promise<Child> {
  const exited = Promise.withResolvers<Exit>()
  const processes = new Set<Child>()
  let current: Child | undefined
  let isStopping = false
  let restarts = Promise.resolve()

  async function start(): Promise<void> {
    const child = await launch()
    current = child
    processes.add(child)
    void untilExited(child)
  }

  async function untilExited(child: Child): Promise<void> {
    const { code, signal } = await child.exited
    processes.delete(child)
    if (child !== current || isStopping) return
    console.log(`The ${name} ended (${signal ?? `exit code ${code}`}): save a source file to restart it`)
  }

  async function restart(): Promise<void> {
    if (isStopping) return
    const former = current
    current = undefined
    if (mayOverlap) void former?.stop()
    else {
      former?.kill()
      await former?.exited
    }
    await start()
  }

  await start()
  const watcher = await watchFolders(folders, isNoSource, (path) => {
    console.log(`${relative(process.cwd(), path)} changed: the ${name} restarts`)
    restarts = restarts.then(restart)
  })
  let stopped: Promise<Exit> | undefined
  async function stop(): Promise<Exit> {
    isStopping = true
    await watcher[Symbol.asyncDispose]()
    await restarts
    const [exit = { code: 0, signal: null }] = await Promise.all([...processes].map((child) => child.stop()))
    exited.resolve(exit)
    return exit
  }
  return {
    name,
    get pid() {
      return current?.pid ?? 0
    },
    exited: exited.promise,
    stop: () => (stopped ??= stop()),
    kill() {
      isStopping = true
      for (const child of processes) child.kill()
    },
  }
}

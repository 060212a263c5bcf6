import { fstatSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { untilParentGone } from './parent-process.ts'
import { findProcess } from './find-process.ts'

/** The processes through which a process was started. */
export interface Ancestry {
  readonly pid: number
  /** npm, the shell that it runs scripts with, the launcher of `isobot`: the parent first, each the child of the next. */
  readonly launchers: readonly number[]
  /** The process that started the launchers: a terminal's shell, a supervisor, a script. */
  readonly owner: number
}

const packageManager = /^(\S*node\S* (--\S+ )*)?(\S*\/)?(npm|npx|pnpm|yarn|bun)(-cli)?(\.[cm]?js)?( |$)/
const scriptShell = /^(\S*\/)?(sh|bash|dash|ash|zsh) -c /
const isobotLauncher = /^\S*node\S* (--\S+ )*(\S*\/)?isobot(\.js)?( |$)/

/**
 * Finds the launchers of this process. Only ancestors in the same process group are launchers: a process that was
 * detached on purpose (`setsid`, a background job, a service) has a group of its own, or no launcher left.
 */
export async function findAncestry(): Promise<Ancestry> {
  const self = await findProcess(process.pid)
  const found: { pid: number; isShell: boolean; parent: number }[] = []
  let ancestor = await findProcess(process.ppid)
  while (ancestor && ancestor.group === self?.group) {
    const { pid, parent, commandLine } = ancestor
    const isShell = scriptShell.test(commandLine)
    if (!isShell && !packageManager.test(commandLine) && !isobotLauncher.test(commandLine)) break
    found.push({ pid, isShell, parent })
    ancestor = await findProcess(parent)
  }
  // A shell that no package manager started is the user's own.
  while (found.at(-1)?.isShell) found.pop()
  return { pid: process.pid, launchers: found.map(({ pid }) => pid), owner: found.at(-1)?.parent ?? process.ppid }
}

/** Whether one of the launchers has ended. A process whose parent has ended has another parent. */
export async function hasLostLauncher({ pid, launchers }: Pick<Ancestry, 'pid' | 'launchers'>): Promise<boolean> {
  let child = pid
  for (const launcher of launchers) {
    const parent = child === process.pid ? process.ppid : (await findProcess(child))?.parent
    if (parent !== launcher) return true
    child = launcher
  }
  return false
}

const pollMilliseconds = 500

/**
 * Resolves when one of the launchers has exited, for any reason: npm forwards SIGTERM to its shell and no further, does
 * not forward SIGHUP, and SIGKILL cannot be forwarded. Never resolves without launchers. Waiting for it does not keep
 * the process alive.
 */
export async function untilLauncherGone(ancestry: Ancestry): Promise<void> {
  if (ancestry.launchers.length === 0) await new Promise<never>(() => {})
  while (!(await hasLostLauncher(ancestry))) await delay(pollMilliseconds, undefined, { ref: false })
}

/**
 * Resolves when the owner has exited, and with it the pipe that it held as the standard input of this process. An owner
 * that exits and leaves a terminal, a file or no standard input has left this process running on purpose: scripts start
 * servers in this way.
 */
export async function untilOwnerGone(ancestry: Ancestry): Promise<void> {
  if (isPipe(0)) {
    await untilParentGone()
    // The pipe of a dying process ends before the process does.
    await delay(pollMilliseconds, undefined, { ref: false })
    if (await hasLostLauncher({ ...ancestry, launchers: [...ancestry.launchers, ancestry.owner] })) return
  }
  await new Promise<never>(() => {})
}

function isPipe(descriptor: number): boolean {
  const status = fstatSync(descriptor)
  return status.isFIFO() || status.isSocket()
}

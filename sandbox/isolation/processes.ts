import { readFileSync } from 'node:fs'

/**
 * The process and its descendants, from the outside in. `unshare` stays outside of the namespaces that it makes and
 * waits; the last process is the isolated one. On other systems than Linux, or without that list, only the process
 * itself.
 */
function processesFrom(pid: number): number[] {
  const processes = [pid]
  for (;;) {
    const child = childOf(processes.at(-1)!)
    if (child === undefined) return processes
    processes.push(child)
  }
}

/** The isolated process, whose memory and signals matter. */
export function innermostOf(pid: number): number {
  return processesFrom(pid).at(-1)!
}

function childOf(pid: number): number | undefined {
  try {
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
    return child === undefined || child === '' ? undefined : Number(child)
  } catch {
    return undefined
  }
}

/**
 * Ends a process and its descendants, the innermost first. A process can ask to outlive its parent, so ending the
 * outermost is not enough.
 */
export function endProcesses(pid: number): void {
  for (const each of processesFrom(pid).toReversed()) {
    try {
      process.kill(each, 'SIGKILL')
    } catch {
      // The process has already ended.
    }
  }
}

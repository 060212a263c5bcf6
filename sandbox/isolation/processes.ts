import { readFileSync } from 'node:fs'

/**
 * The process itself, and what it has started, from the outside in. `unshare` stays outside of the namespaces that it
 * makes and waits; the last one is what runs inside. Without Linux, or without that list, only the process itself.
 */
function processesFrom(pid: number): number[] {
  const processes = [pid]
  for (;;) {
    const child = childOf(processes.at(-1)!)
    if (child === undefined) return processes
    processes.push(child)
  }
}

/** The process that runs inside, which is the one whose memory and signals matter. */
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
 * Ends a process and what it has started, the innermost first. A process can ask to outlive the one that started it, so
 * ending the outermost is not enough.
 */
export function endProcesses(pid: number): void {
  for (const each of processesFrom(pid).toReversed()) {
    try {
      process.kill(each, 'SIGKILL')
    } catch {
      // It is gone already.
    }
  }
}

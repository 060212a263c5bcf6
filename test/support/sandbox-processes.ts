import { readFileSync } from 'node:fs'
import { innermostOf } from '#sandbox/isolation/processes.ts'

/** The processes that run bots for a worker: those of its children that have a permission model. */
export function sandboxesOf(workerPid: number): number[] {
  const children = read(`/proc/${workerPid}/task/${workerPid}/children`).trim()
  if (children === '') return []
  return children
    .split(' ')
    .map((pid) => innermostOf(Number(pid)))
    .filter((pid) => read(`/proc/${pid}/cmdline`).includes('--permission'))
}

/** Nothing of a process that is gone. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/**
 * The processes that compile uploads for a worker, and whatever of the walls waits outside of them. The service of
 * esbuild that bundles for tests in the same process is none of them.
 */
export function compilersOf(workerPid: number): number[] {
  const [, ...children] = withChildren(workerPid)
  return children.filter((pid) => {
    const command = read(`/proc/${pid}/cmdline`)
    return command.includes('/bin/esbuild') && !command.includes('--service')
  })
}

/** A process and those that it has started. */
export function withChildren(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean).map(Number)
  return [pid, ...children.flatMap(withChildren)]
}

/** Whether a process is there, and not only its exit code. */
export function isAlive(pid: number): boolean {
  return /^State:\s+[^ZX]/m.test(read(`/proc/${pid}/status`))
}

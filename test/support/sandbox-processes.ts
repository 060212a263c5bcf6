import { readFileSync } from 'node:fs'
import { innermostOf } from '#sandbox/isolation/processes.ts'

/** The sandbox processes of a worker: its children with a permission model. */
export function sandboxesOf(workerPid: number): number[] {
  const children = read(`/proc/${workerPid}/task/${workerPid}/children`).trim()
  if (children === '') return []
  return children
    .split(' ')
    .map((pid) => innermostOf(Number(pid)))
    .filter((pid) => read(`/proc/${pid}/cmdline`).includes('--permission'))
}

/** Empty for a process that has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/**
 * The processes that compile uploads for a worker, including those of the isolation layers that wait outside. Excludes
 * esbuild's service, which bundles for tests in the same process.
 */
export function compilersOf(workerPid: number): number[] {
  const [, ...children] = withChildren(workerPid)
  return children.filter((pid) => {
    const command = read(`/proc/${pid}/cmdline`)
    return command.includes('/bin/esbuild') && !command.includes('--service')
  })
}

/** A process and its descendants. */
export function withChildren(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean).map(Number)
  return [pid, ...children.flatMap(withChildren)]
}

/** Whether a process runs; false for a zombie. */
export function isAlive(pid: number): boolean {
  return /^State:\s+[^ZX]/m.test(read(`/proc/${pid}/status`))
}

import { readFileSync } from 'node:fs'
import { innermostOf } from '#sandbox/isolation/processes.ts'

/** The unit of times in `/proc`. */
const tickMilliseconds = 10

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

/** The processor time of a process so far, in milliseconds. 0 for one that has ended. */
export function processorMillisecondsOf(pid: number): number {
  const [, fields = ''] = read(`/proc/${pid}/stat`).split(') ')
  const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number)
  return (user + system) * tickMilliseconds
}

/** Whether a process runs; false for a zombie. */
export function isAlive(pid: number): boolean {
  return /^State:\s+[^ZX]/m.test(read(`/proc/${pid}/status`))
}

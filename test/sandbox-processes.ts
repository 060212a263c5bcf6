import { readFileSync } from 'node:fs'
import { innermostOf } from '#sandbox/walls/processes.ts'

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

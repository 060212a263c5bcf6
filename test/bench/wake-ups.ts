import { readdir, readFile } from 'node:fs/promises'
import type { ByProcess } from './processor-time.ts'

interface Process {
  parent: number
  own: number
}

/**
 * Reads how many times the threads of each process have waited and been woken, since their start: the voluntary context
 * switches. Those of threads that have ended are missing. Undefined on other systems than Linux.
 */
export async function readWakeUps(): Promise<ByProcess | undefined> {
  if (process.platform !== 'linux') return undefined
  const processes = new Map<number, Process>()
  for (const name of await readdir('/proc')) {
    const pid = Number(name)
    if (!Number.isInteger(pid)) continue
    const parent = await readField(`/proc/${name}/status`, 'PPid')
    const threads = await readdir(`/proc/${name}/task`).catch(() => [])
    const waits = await Promise.all(
      threads.map((thread) => readField(`/proc/${name}/task/${thread}/status`, 'voluntary_ctxt_switches')),
    )
    processes.set(pid, { parent, own: waits.reduce((sum, count) => sum + count, 0) })
  }
  const below = (pid: number): number => {
    let sum = 0
    for (const [child, { parent, own }] of processes) if (parent === pid) sum += own + below(child)
    return sum
  }
  return { own: (pid) => processes.get(pid)?.own ?? 0, below }
}

/** A number of a file of `/proc`; 0 when the process or thread has ended. */
async function readField(path: string, name: string): Promise<number> {
  const status = await readFile(path, 'latin1').catch(() => '')
  return Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status)?.[1] ?? 0)
}

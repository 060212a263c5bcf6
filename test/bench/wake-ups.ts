import { readdir, readFile } from 'node:fs/promises'
import type { ByProcess } from './processor-time.ts'

interface Process {
  parent: number
  /** The count of each thread. */
  threads: Map<string, number>
}

/**
 * Counts from now on how many times the threads of each process wait and are woken: the voluntary context switches.
 * Those of threads that end meanwhile are missing.
 *
 * @returns a function that reads the counts; undefined on other systems than Linux
 */
export async function countWakeUps(): Promise<(() => Promise<ByProcess>) | undefined> {
  if (process.platform !== 'linux') return undefined
  const before = await readProcesses()
  return async () => {
    const after = await readProcesses()
    const own = (pid: number): number => {
      const earlier = before.get(pid)?.threads
      let sum = 0
      for (const [thread, count] of after.get(pid)?.threads ?? []) sum += count - (earlier?.get(thread) ?? 0)
      return sum
    }
    const below = (pid: number): number => {
      let sum = 0
      for (const [child, { parent }] of after) if (parent === pid) sum += own(child) + below(child)
      return sum
    }
    return { own, below }
  }
}

async function readProcesses(): Promise<Map<number, Process>> {
  const processes = new Map<number, Process>()
  for (const name of await readdir('/proc')) {
    const pid = Number(name)
    if (!Number.isInteger(pid)) continue
    const parent = (await readField(`/proc/${name}/status`, 'PPid')) ?? 0
    const threads = new Map<string, number>()
    for (const thread of await readdir(`/proc/${name}/task`).catch(() => [])) {
      const count = await readField(`/proc/${name}/task/${thread}/status`, 'voluntary_ctxt_switches')
      if (count !== undefined) threads.set(thread, count)
    }
    processes.set(pid, { parent, threads })
  }
  return processes
}

/** A number of a file of `/proc`; undefined when the process or thread has ended. */
async function readField(path: string, name: string): Promise<number | undefined> {
  const status = await readFile(path, 'latin1').catch(() => '')
  const text = new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status)?.[1]
  return text === undefined ? undefined : Number(text)
}

import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

/** Node options of a measured process. */
export const measurable = ['--expose-gc', '--import', new URL('./collect-garbage.ts', import.meta.url).href]

/** Resident memory of a process, in bytes. */
export interface Memory {
  now: number
  /** The maximum so far. */
  most: number
}

/** The collection takes half a second with 10,000 streams, and the last pages are released a moment after it. */
const quietMilliseconds = 1500

/**
 * Makes a measurable, idle process release its unused memory, and reads its memory. Undefined on other systems than
 * Linux.
 */
export async function readQuietMemory(pid: number): Promise<Memory | undefined> {
  if (process.platform !== 'linux') return undefined
  process.kill(pid, 'SIGUSR2')
  await delay(quietMilliseconds)
  const status = await readFile(`/proc/${pid}/status`, 'latin1')
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)?.[1]) * 1024
  return { now: bytes('VmRSS'), most: bytes('VmHWM') }
}

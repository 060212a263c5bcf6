import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

/** Node options of a process that is to be measured. */
export const measurable = ['--expose-gc', '--import', new URL('./collect-garbage.ts', import.meta.url).href]

/** Memory of a process that is resident, in bytes. */
export interface Memory {
  now: number
  /** The most there ever was. */
  most: number
}

/** The collection takes half a second with 10,000 streams, and the last pages go back a moment after it. */
const quietMilliseconds = 1500

/** Has a measurable, idle process give back what it does not need, and reads its memory. Undefined anywhere but on Linux. */
export async function readQuietMemory(pid: number): Promise<Memory | undefined> {
  if (process.platform !== 'linux') return undefined
  process.kill(pid, 'SIGUSR2')
  await delay(quietMilliseconds)
  const status = await readFile(`/proc/${pid}/status`, 'latin1')
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)?.[1]) * 1024
  return { now: bytes('VmRSS'), most: bytes('VmHWM') }
}

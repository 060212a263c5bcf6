import { readFileSync } from 'node:fs'

const pollMilliseconds = 50

/**
 * Resident memory of a process, in kilobytes; `undefined` when the process has ended, or on other systems than Linux.
 */
export function residentKilobytes(pid: number): number | undefined {
  try {
    const resident = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return resident === undefined ? undefined : Number(resident)
  } catch {
    return undefined
  }
}

/**
 * Polls the memory of a process, and reports once when it exceeds its cap. With a JIT, `ulimit -d` would count address
 * space that V8 only reserves, so polling is the only means.
 *
 * @returns a function that ends the polling
 */
export function watchMemory(pid: number, kilobytes: number, exceeded: (kilobytes: number) => void): () => void {
  const timer = setInterval(() => {
    const resident = residentKilobytes(pid)
    if (resident !== undefined && resident <= kilobytes) return
    clearInterval(timer)
    if (resident !== undefined) exceeded(resident)
  }, pollMilliseconds)
  return () => clearInterval(timer)
}

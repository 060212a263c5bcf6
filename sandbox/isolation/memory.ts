import { readFileSync } from 'node:fs'

const lookMilliseconds = 50

/** The memory of a process that is in use, in kilobytes; `undefined` when it is gone, or where Linux is not there to say. */
export function residentKilobytes(pid: number): number | undefined {
  try {
    const resident = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return resident === undefined ? undefined : Number(resident)
  } catch {
    return undefined
  }
}

/**
 * Polls the memory of a process, and reports once when it exceeds its cap. With a JIT, `ulimit -d`
 * counts address space that V8 only reserves, so nothing but looking is left.
 *
 * @returns ends it
 */
export function watchMemory(pid: number, kilobytes: number, exceeded: (kilobytes: number) => void): () => void {
  const timer = setInterval(() => {
    const resident = residentKilobytes(pid)
    if (resident !== undefined && resident <= kilobytes) return
    clearInterval(timer)
    if (resident !== undefined) exceeded(resident)
  }, lookMilliseconds)
  return () => clearInterval(timer)
}

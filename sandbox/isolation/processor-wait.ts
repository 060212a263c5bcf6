import { readFileSync } from 'node:fs'

/**
 * Milliseconds for which the main thread of a process could run and had no processor, since its start; undefined where the
 * system does not report them.
 */
export function processorWaitOf(pid: number): number | undefined {
  try {
    const [, nanoseconds] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')
    return Number(nanoseconds) / 1e6
  } catch {
    return undefined
  }
}

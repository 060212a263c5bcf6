import { megabyte } from '../protocol/units.ts'

/** Memory limits of one sandbox process. */
export interface ProcessMemory {
  /**
   * Resident size beyond which idle isolates are disposed of for new ones; a process that stays above it is replaced.
   */
  softBytes: number
  /** Number of isolates, idle or not, beyond which idle ones are disposed of. */
  isolates: number
  /** The cap on the process's data (`ulimit -d`), beyond which it dies. */
  dataKilobytes: number
}

/** Default per process: it holds 170 small bots, and takes less than 512 MB together with a worker. */
export const usualMegabytes = 320

/**
 * An empty process has 52 MB resident. Each warm isolate adds 1.6 MB with a small native bot, 3 MB with the web's
 * globals, 10 MB with a bundle of the SDK. Its data also counts memory that is mapped and not yet touched: 85 MB when
 * empty, and 2.7, 3.8 and 11 MB per isolate. So twice the resident size suffices for the smallest isolates, and the
 * rest is for the memory of running code.
 */
export function processMemory(megabytes: number): ProcessMemory {
  return {
    softBytes: megabytes * megabyte,
    isolates: Math.max(8, Math.floor(megabytes / 1.5)),
    dataKilobytes: (2 * megabytes + 160) * 1024,
  }
}

/**
 * Memory of a quarantine process, which holds the isolates of one owner's code: one isolate with the largest heap that
 * can be configured, and the process itself.
 */
export const quarantineMegabytes = 180

/** Resident memory of several processes together, in bytes. */
export function sumOfMemory(processes: Iterable<{ residentBytes: number }>): number {
  return Array.from(processes).reduce((sum, { residentBytes }) => sum + residentBytes, 0)
}

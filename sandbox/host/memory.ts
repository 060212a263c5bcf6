/** What one sandbox process may hold. */
export interface ProcessMemory {
  /** Beyond this resident size, idle isolates make room for new ones, and a process that stays there is replaced. */
  softBytes: number
  /** Isolates that are kept, idle or not, before idle ones make room. */
  isolates: number
  /** The cap on the process's data (`ulimit -d`), beyond which it dies. */
  dataKilobytes: number
}

/** The default of a process: it holds 170 small bots, and takes less than 512 MB together with a worker. */
export const usualMegabytes = 320

const megabyte = 1024 * 1024

/**
 * Of a process with nothing in it, 52 MB are resident; each warm isolate of a small native bot adds 1.6 MB, with the
 * web's globals 3 MB, with a bundle of the SDK 10 MB. Its data counts what is mapped and not yet touched, too: 85 MB,
 * and 2.7, 3.8 and 11 MB for each isolate. So twice the resident size leaves room for the smallest ones, and the rest is
 * for what isolates do while they run.
 */
export function processMemory(megabytes: number): ProcessMemory {
  return {
    softBytes: megabytes * megabyte,
    isolates: Math.max(8, Math.floor(megabytes / 1.5)),
    dataKilobytes: (2 * megabytes + 160) * 1024,
  }
}

/**
 * Of a process in quarantine, which holds the isolates of one owner's code: an isolate with the largest heap that may be
 * set, and the process itself.
 */
export const quarantineMegabytes = 180

/** What some processes hold together, in bytes. */
export function sumOfMemory(processes: Iterable<{ residentBytes: number }>): number {
  return Array.from(processes).reduce((sum, { residentBytes }) => sum + residentBytes, 0)
}

import type { OtherProgram } from '../isolation/command.ts'

/** Address space that V8 reserves for machine code and its heap, and does not use. */
export const reservedMegabytes = 640

/**
 * Node with a program of the platform's on standard input, which reads what users upload and runs none of it. The JIT
 * stays on, because it compiles only that program.
 */
export function nodeProgram({
  cpuSeconds,
  heapMegabytes,
}: {
  cpuSeconds: number
  heapMegabytes: number
}): OtherProgram {
  return {
    words: [
      process.execPath,
      '--permission',
      '--disable-warning=PERM0001',
      '--no-experimental-sqlite',
      `--max-old-space-size=${heapMegabytes}`,
      // Several threads use more processor time than the time that passes, by which its limit is recognized.
      '--single-threaded',
      '-',
    ],
    files: [],
    environment: {},
    cpuSeconds,
  }
}

import type { Limits } from '#sandbox/contract.ts'

/** The operator's limits, and those that are the same everywhere. */
export function limits(settings: {
  memoryMegabytes: number
  cpuMilliseconds: number
  wallMilliseconds: number
}): Limits {
  return {
    memoryMegabytes: settings.memoryMegabytes,
    cpuMilliseconds: settings.cpuMilliseconds,
    wallMilliseconds: settings.wallMilliseconds,
    loadMilliseconds: 2000,
    hostCalls: 1000,
    hostCallsAtOnce: 32,
    hostCallCharacters: 1024 * 1024,
    fetches: 50,
    fetchesAtOnce: 6,
    // A body of 1 MB as base64, or as text with a good deal to escape, and the headers.
    fetchCharacters: 2 * 1024 * 1024,
    resultCharacters: 1024 * 1024,
    logLines: 1000,
    logCharacters: 256 * 1024,
    timers: 64,
  }
}

import type { OwnLimits } from '#shared/config/code-limits.ts'

/** The name of a tag that the published runtime of agents writes. No minifier changes it. */
const syncTag = 'adkSyncTs'

/** Whether a bundle of the public SDK is an agent of the published runtime (`@botpress/runtime`). */
export function isAgent(script: string): boolean {
  return script.includes(syncTag)
}

/**
 * Limits of an agent. Its bundle of 13 MB takes 90 MB of heap, and 1.5 s of processor time to load. Its runtime leaves the last
 * 15 s of an event unused by workflows, so these would not go on in less. Knowledge is synchronized in few events: each page takes
 * two outbound requests and leaves timers until these are over time.
 */
export const agentLimits = {
  wallMilliseconds: 60_000,
  memoryMegabytes: 128,
  loadMilliseconds: 10_000,
  cpuMilliseconds: 5000,
  fetches: 500,
  timers: 1000,
} satisfies OwnLimits

/** The variable by which the runtime runs as a deployed bot, not on its author's machine. */
export const agentEnvironment = { AWS_LAMBDA_FUNCTION_NAME: 'isobot' }

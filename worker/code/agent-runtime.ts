import type { OwnLimits } from '#shared/config/code-limits.ts'

/** The name of a tag that the published runtime of agents writes. No minifier changes it. */
const syncTag = 'adkSyncTs'

/** Whether a bundle of the public SDK is an agent of the published runtime (`@botpress/runtime`). */
export function isAgent(script: string): boolean {
  return script.includes(syncTag)
}

/** Limits of an agent. Its bundle of 13 MB takes 90 MB of heap, and 1.5 s of processor time to load. */
export const agentLimits = {
  memoryMegabytes: 128,
  loadMilliseconds: 10_000,
  cpuMilliseconds: 5000,
} satisfies OwnLimits

/** The variable by which the runtime runs as a deployed bot, not on its author's machine. */
export const agentEnvironment = { AWS_LAMBDA_FUNCTION_NAME: 'isobot' }

/**
 * Gives turns by key, in order of arrival. The runtime of agents keeps unsaved states in variables of its module, so events
 * at the same time in one isolate would lose states.
 */
export class Turns {
  readonly #last = new Map<string, Promise<void>>()

  /** Resolves when the turn has come. @returns a function that ends the turn */
  async take(key: string): Promise<() => void> {
    const before = this.#last.get(key)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last.set(key, promise)
    await before
    return () => {
      if (this.#last.get(key) === promise) this.#last.delete(key)
      resolve()
    }
  }
}

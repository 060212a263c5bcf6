import type { OwnLimits } from '#shared/config/code-limits.ts'

/** The name of a tag that the published runtime of agents writes. No minifier changes it. */
const syncTag = 'adkSyncTs'

/** Whether a bundle of the public SDK is an agent of the published runtime (`@botpress/runtime`). */
export function isAgent(script: string): boolean {
  return script.includes(syncTag)
}

/** What an agent needs beyond usual bots: its bundle of 13 MB takes 90 MB of heap, and 1.5 s of processor time to load. */
export const agentLimits = {
  memoryMegabytes: 128,
  loadMilliseconds: 10_000,
  cpuMilliseconds: 5000,
} satisfies OwnLimits

/**
 * The variables that agents read: the first one, which says that they are deployed, and that code of models is not to be run by a program in
 * WebAssembly, which isolates do not have.
 */
export const agentEnvironment = { AWS_LAMBDA_FUNCTION_NAME: 'isobot', USE_QUICKJS: 'false' }

/**
 * Gives turns by key, in order of arrival. The runtime of agents keeps what it saves in variables of its module: events at the same time
 * in one isolate would lose states.
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

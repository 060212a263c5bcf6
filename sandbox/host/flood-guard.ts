/** More useless frames than this between two heartbeats mean that the process violates the protocol. */
const maxUselessFrames = 1000
/** A frame counts once, plus once for each this many bytes. */
const bytesOfOne = 4096

/** Counts frames without effect. A correct process sends hardly any. */
export class FloodGuard {
  #useless = 0

  /** @returns whether the count exceeds the limit */
  count(bytes: number): boolean {
    this.#useless += 1 + bytes / bytesOfOne
    return this.#useless > maxUselessFrames
  }

  /** Restarts the count at a heartbeat. */
  reset(): void {
    this.#useless = 0
  }
}

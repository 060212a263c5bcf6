/** So many useless frames within a heartbeat mean that the process no longer keeps to the protocol. */
const maxUselessFrames = 1000
/** A frame counts once, and once more for each of these. */
const bytesOfOne = 4096

/** Counts the frames of a process that changed nothing. A process in order sends hardly any. */
export class FloodGuard {
  #useless = 0

  /** @returns whether there are too many */
  count(bytes: number): boolean {
    this.#useless += 1 + bytes / bytesOfOne
    return this.#useless > maxUselessFrames
  }

  /** A heartbeat begins. */
  reset(): void {
    this.#useless = 0
  }
}

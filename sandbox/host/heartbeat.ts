const intervalMilliseconds = 1000
const maxUnanswered = 4
/**
 * Factor on `softBytes` up to which a process counts as within its memory, because its idle isolates take time to go.
 */
const memoryTolerance = 1.15

export interface HeartbeatOptions {
  /** Intended resident memory of the process, in bytes. */
  softBytes: number
  /** Sends a ping to the process. */
  ask(): void
  /** Called when too many pings are unanswered. */
  missed(): void
}

/** Pings a process periodically, to check that it responds and how much memory it holds. */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  #timer: NodeJS.Timeout | undefined
  #unanswered = 0
  /** Start of the current period above its memory; undefined when the process is within it. */
  #overweightAt: number | undefined

  constructor(options: HeartbeatOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer = setInterval(() => this.#beat(), intervalMilliseconds)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Milliseconds that the process has been above its memory without a break. */
  get overweightMilliseconds(): number {
    return this.#overweightAt === undefined ? 0 : performance.now() - this.#overweightAt
  }

  /**
   * Handles an answer of the process.
   *
   * @param residentBytes the process's memory, by its own report
   * @returns false when no ping was unanswered
   */
  answered(residentBytes: number): boolean {
    if (this.#unanswered === 0) return false
    this.#unanswered = 0
    const isOverweight = residentBytes > this.#options.softBytes * memoryTolerance
    this.#overweightAt = isOverweight ? (this.#overweightAt ?? performance.now()) : undefined
    return true
  }

  #beat(): void {
    if (this.#unanswered >= maxUnanswered) return this.#options.missed()
    this.#unanswered += 1
    this.#options.ask()
  }
}

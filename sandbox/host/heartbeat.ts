const intervalMilliseconds = 1000
const maxUnanswered = 4
/**
 * Upper bound for a process that has not been given a processor meanwhile. Sandbox processes have a low priority: beside ten
 * busy threads on two cores, loading a bundle of some megabytes kept the main thread from answering for 10 s and more.
 */
const maxUnansweredStarved = 30
/** Share of the time without an answer, for which the thread must have waited for a processor, to count as starved. */
const starvedShare = 0.5
/**
 * Factor on `softBytes` up to which a process counts as within its memory, because its idle isolates take time to go.
 */
const memoryTolerance = 1.15

export interface HeartbeatOptions {
  /** Intended resident memory of the process, in bytes. */
  softBytes: number
  /** Milliseconds for which the process has waited for a processor so far; undefined where that is unknown. */
  processorWait(): number | undefined
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
  /** The process's wait for a processor when the first unanswered ping was sent. */
  #waitedBefore: number | undefined
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
    if (this.#unanswered >= maxUnanswered && !this.#isStarved()) return this.#options.missed()
    if (this.#unanswered === 0) this.#waitedBefore = this.#options.processorWait()
    this.#unanswered += 1
    if (this.#unanswered <= maxUnanswered) this.#options.ask()
  }

  #isStarved(): boolean {
    const waited = this.#options.processorWait()
    if (waited === undefined || this.#waitedBefore === undefined) return false
    const isStarved = waited - this.#waitedBefore >= this.#unanswered * intervalMilliseconds * starvedShare
    return isStarved && this.#unanswered < maxUnansweredStarved
  }
}

const intervalMilliseconds = 1000
const maxUnanswered = 4
/** Times the memory it should hold: so far a process may go before its idle isolates have gone. */
const overweight = 1.15

export interface HeartbeatOptions {
  /** What the process should hold, in bytes. */
  softBytes: number
  /** Asks the process for a sign of life. */
  ask(): void
  /** It has not answered for so long that nobody waits any more. */
  missed(): void
}

/** Asks a process again and again whether it moves, and how much memory it holds. */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  #timer: NodeJS.Timeout | undefined
  #unanswered = 0
  /** Since when it has held more than it should; it does not when undefined. */
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

  /** How long the process has held more than it should, without a break. */
  get overweightMilliseconds(): number {
    return this.#overweightAt === undefined ? 0 : performance.now() - this.#overweightAt
  }

  /**
   * The process answers.
   *
   * @param residentBytes its memory, as it says
   * @returns false when nobody asked
   */
  answered(residentBytes: number): boolean {
    if (this.#unanswered === 0) return false
    this.#unanswered = 0
    const isOverweight = residentBytes > this.#options.softBytes * overweight
    this.#overweightAt = isOverweight ? (this.#overweightAt ?? performance.now()) : undefined
    return true
  }

  #beat(): void {
    if (this.#unanswered >= maxUnanswered) return this.#options.missed()
    this.#unanswered += 1
    this.#options.ask()
  }
}

interface Waiting {
  start(): void
}

/**
 * Runs tasks with bounded concurrency, and at most one at a time per owner. Owners take turns, regardless of the number
 * of their tasks.
 */
export class FairQueue {
  readonly #concurrency: number
  /** Ordered by turn: the next owner comes first. */
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #running = new Set<string>()

  constructor(concurrency: number) {
    this.#concurrency = concurrency
  }

  async run<Result>(owner: string, work: () => Promise<Result>): Promise<Result> {
    await new Promise<void>((start) => {
      const mine = this.#waiting.get(owner) ?? []
      mine.push({ start })
      this.#waiting.set(owner, mine)
      this.#next()
    })
    try {
      return await work()
    } finally {
      this.#running.delete(owner)
      this.#toTheEnd(owner)
      this.#next()
    }
  }

  #toTheEnd(owner: string): void {
    const mine = this.#waiting.get(owner)
    this.#waiting.delete(owner)
    if (mine) this.#waiting.set(owner, mine)
  }

  #next(): void {
    for (const [owner, [first, ...others]] of this.#waiting) {
      if (this.#running.size >= this.#concurrency) return
      if (this.#running.has(owner)) continue
      this.#waiting.delete(owner)
      if (others.length > 0) this.#waiting.set(owner, others)
      this.#running.add(owner)
      first!.start()
    }
  }
}

/**
 * How often something has happened lately, for each of many names. It takes two numbers for a name: what happened in the
 * window before this one counts by the part of it that is not over yet.
 */
export class SlidingWindowCounter {
  readonly #windowMilliseconds: number
  readonly #now: () => number
  #begin: number
  #current = new Map<string, number>()
  #previous = new Map<string, number>()

  /** @param now a clock that only goes forward, in milliseconds */
  constructor(windowMilliseconds: number, now: () => number = () => performance.now()) {
    this.#windowMilliseconds = windowMilliseconds
    this.#now = now
    this.#begin = now()
  }

  add(name: string): void {
    this.#turn()
    this.#current.set(name, (this.#current.get(name) ?? 0) + 1)
  }

  /** How often it has happened within about one window; not always a whole number. */
  of(name: string): number {
    const part = 1 - this.#turn() / this.#windowMilliseconds
    return (this.#current.get(name) ?? 0) + (this.#previous.get(name) ?? 0) * part
  }

  /** Whether it has happened lately for no other name. */
  isOnly(name: string): boolean {
    this.#turn()
    return [this.#current, this.#previous].every((counts) => counts.size === Number(counts.has(name)))
  }

  /** @returns milliseconds since this window began */
  #turn(): number {
    const now = this.#now()
    const elapsed = now - this.#begin
    if (elapsed < this.#windowMilliseconds) return elapsed
    const follows = elapsed < 2 * this.#windowMilliseconds
    this.#previous = follows ? this.#current : new Map()
    this.#current = new Map()
    this.#begin = follows ? this.#begin + this.#windowMilliseconds : now
    return now - this.#begin
  }
}

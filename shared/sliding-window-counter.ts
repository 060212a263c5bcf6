/**
 * Approximate number of recent occurrences by name. Two numbers per name suffice: the count of the previous window is
 * weighted by the part of the current window that is left.
 */
export class SlidingWindowCounter {
  readonly #windowMilliseconds: number
  readonly #now: () => number
  #begin: number
  #current = new Map<string, number>()
  #previous = new Map<string, number>()
  #total = { current: 0, previous: 0 }

  /** @param now a monotonic clock, in milliseconds */
  constructor(windowMilliseconds: number, now: () => number = () => performance.now()) {
    this.#windowMilliseconds = windowMilliseconds
    this.#now = now
    this.#begin = now()
  }

  add(name: string): void {
    this.#turn()
    this.#current.set(name, (this.#current.get(name) ?? 0) + 1)
    this.#total.current += 1
  }

  /** Occurrences within about one window; not always a whole number. */
  of(name: string): number {
    const part = 1 - this.#turn() / this.#windowMilliseconds
    return (this.#current.get(name) ?? 0) + (this.#previous.get(name) ?? 0) * part
  }

  /** Mean of `of` over the names that have occurred recently, of which it knows the approximate number. */
  average(): number {
    const part = 1 - this.#turn() / this.#windowMilliseconds
    const names = Math.max(this.#current.size, this.#previous.size, 1)
    return (this.#total.current + this.#total.previous * part) / names
  }

  /** Whether no other name has occurred recently. */
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
    this.#total = { current: 0, previous: follows ? this.#total.current : 0 }
    this.#begin = follows ? this.#begin + this.#windowMilliseconds : now
    return now - this.#begin
  }
}

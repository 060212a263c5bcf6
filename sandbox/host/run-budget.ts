import type { FetchCount, Limits } from '../protocol/contract.ts'
import { takesLine, type Logged } from '../protocol/log-budget.ts'

/**
 * The worker's count of what a run tree has used of its limits. The kernels enforce the same limits and report them to
 * the author of the code; a frame beyond them has no effect, and means that code has escaped from its isolate.
 */
export class RunBudget {
  readonly #limits: Limits
  readonly #eventFetches: FetchCount
  readonly #logged: Logged = { lines: 0, characters: 0 }
  #calls = 0
  #fetches = 0
  #connections = 0
  #aborts = 0
  #hasCode = false

  /** @param eventFetches the requests of all runs of the event, including those in other isolates */
  constructor(limits: Limits, eventFetches: FetchCount = { fetches: 0 }) {
    this.#limits = limits
    this.#eventFetches = eventFetches
  }

  takeCall(): boolean {
    if (this.#calls >= this.#limits.hostCalls) return false
    this.#calls += 1
    return true
  }

  takeFetch(): boolean {
    if (this.#fetches >= this.#limits.fetches) return false
    this.#fetches += 1
    return true
  }

  /** Counts a request for the event. A kernel does not know the requests of other isolates. */
  takeEventFetch(): boolean {
    this.#eventFetches.fetches += 1
    return this.#eventFetches.fetches <= this.#limits.fetches
  }

  takeConnection(): boolean {
    if (this.#connections >= this.#limits.connectionsAtOnce) return false
    this.#connections += 1
    return true
  }

  releaseConnection(): void {
    this.#connections -= 1
  }

  /** Each request can be aborted once. */
  takeAbort(): boolean {
    if (this.#aborts >= this.#fetches) return false
    this.#aborts += 1
    return true
  }

  /** The code is sent at most once, because the isolate is loaded at most once. */
  takeCode(): boolean {
    if (this.#hasCode) return false
    this.#hasCode = true
    return true
  }

  takeLine(message: string): boolean {
    return takesLine(this.#logged, this.#limits, message)
  }
}

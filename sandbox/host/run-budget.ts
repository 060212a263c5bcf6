import type { FetchCount, Limits } from '../protocol/contract.ts'
import { takesLine, type Logged } from '../protocol/log-budget.ts'

/**
 * What a run, and the runs that it called, have spent of their limits, counted by the worker. Their kernels keep to the
 * same limits and say so to the author of the code; a frame beyond them is useless, and means that something escaped.
 */
export class RunBudget {
  readonly #limits: Limits
  readonly #eventFetches: FetchCount
  readonly #logged: Logged = { lines: 0, characters: 0 }
  #calls = 0
  #fetches = 0
  #aborts = 0
  #hasCode = false

  /** @param eventFetches the requests of all runs of the event, in other isolates too */
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

  /** Counts a request for the event. No kernel knows of those in other isolates. */
  takeEventFetch(): boolean {
    this.#eventFetches.fetches += 1
    return this.#eventFetches.fetches <= this.#limits.fetches
  }

  /** Each request can be aborted once. */
  takeAbort(): boolean {
    if (this.#aborts >= this.#fetches) return false
    this.#aborts += 1
    return true
  }

  /** The code is sent once: the isolate is loaded once, if at all. */
  takeCode(): boolean {
    if (this.#hasCode) return false
    this.#hasCode = true
    return true
  }

  takeLine(message: string): boolean {
    return takesLine(this.#logged, this.#limits, message)
  }
}

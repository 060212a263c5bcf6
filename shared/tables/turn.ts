import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * A turn of parsing and checks ends after this time, and the next one begins after as much: the answer to another
 * request takes several turns of its own.
 */
const turnMilliseconds = 5

/** Divides long work on the event loop into turns, between which other requests are answered. */
export class Turn {
  #began = performance.now()

  get isOver(): boolean {
    return performance.now() - this.#began > turnMilliseconds
  }

  /** Begins a turn, after a wait for something else. */
  begin(): void {
    this.#began = performance.now()
  }

  /** Lets other requests be answered when the turn is over. */
  async end(): Promise<void> {
    if (!this.isOver) return
    await pause(turnMilliseconds)
    this.begin()
  }
}

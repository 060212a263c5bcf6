import type { Owner } from './crash-history.ts'
import type { KillCause } from '../protocol/contract.ts'
import type { Failure, RunHandle } from './run-handle.ts'

/** Whose runs fail, and of what, when a process ends. */
export interface AttributedFailure {
  runTree: string
  failure: Failure
}

/** Whose doing the end of a process is. */
export interface ExitAttribution {
  cause: KillCause
  attributed?: AttributedFailure
  /** Whose doing it may be: all that run in it, unless given. */
  suspects?: Owner[]
  fromOutside?: boolean
  /** How long the steps took that came before, for the log. */
  steps?: Record<string, number>
}

/**
 * Beyond a run's own limit: the process has the first chance to end it, and to say why. Its last step, to find that a
 * thread can not be stopped, comes 0.4 s after the limit, and 1 s where the machine is busy.
 */
const graceMilliseconds = 1500

/** The runs that a sandbox process has at the moment, and until when it may have them. */
export class ProcessHandles {
  readonly #runs = new Map<string, RunHandle>()
  readonly #deadlines = new Map<string, NodeJS.Timeout>()

  get size(): number {
    return this.#runs.size
  }

  get(id: string): RunHandle | undefined {
    return this.#runs.get(id)
  }

  [Symbol.iterator](): IterableIterator<RunHandle> {
    return this.#runs.values()
  }

  /**
   * Adds a run.
   *
   * @param onOverdue it outlives its deadline; never called for a run that another one called, which has that one's
   */
  add(run: RunHandle, onOverdue: () => void): void {
    this.#runs.set(run.id, run)
    if (run.runTree !== run.id) return
    this.#deadlines.set(run.id, setTimeout(onOverdue, run.limits.wallMilliseconds + graceMilliseconds))
  }

  remove({ id }: RunHandle): void {
    this.#runs.delete(id)
    clearTimeout(this.#deadlines.get(id))
    this.#deadlines.delete(id)
  }

  /** Ends all of them: as failed those of the attributed runTree, as interrupted those of all others. */
  endAll(reason: string, attributed?: AttributedFailure): void {
    for (const run of this.#runs.values()) {
      this.remove(run)
      if (attributed?.runTree === run.runTree) run.fail(attributed.failure, 0)
      else run.interrupt(reason, 0)
    }
  }
}

import type { Owner } from './crash-history.ts'
import type { KillCause } from '../protocol/contract.ts'
import type { Failure, RunHandle } from './run-handle.ts'

/** The run tree that fails when a process ends, and its failure. */
export interface AttributedFailure {
  runTree: string
  failure: Failure
}

/** The cause of a process's end. */
export interface ExitAttribution {
  cause: KillCause
  attributed?: AttributedFailure
  /** The owners whose code may have caused the end; by default, those of all runs in the process. */
  suspects?: Owner[]
  fromOutside?: boolean
  /** Durations of the preceding steps, for the log. */
  steps?: Record<string, number>
}

/**
 * Time beyond a run's own limit, so that the process can end the run first and report the reason. The last step of the
 * process, to find that a thread cannot be stopped, comes 0.4 s after the limit, and 2.5 s on a busy machine.
 */
const graceMilliseconds = 3000

/** The runs in flight in a sandbox process, with their deadlines. */
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
   * @param onOverdue called when the run exceeds its deadline; never for a run that another run called, which has the
   * deadline of its caller
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

  /** Ends all runs: those of the attributed run tree as failed, all others as interrupted. */
  endAll(reason: string, attributed?: AttributedFailure): void {
    for (const run of this.#runs.values()) {
      this.remove(run)
      if (attributed?.runTree === run.runTree) run.fail(attributed.failure, 0)
      else run.interrupt(reason, 0)
    }
  }
}

import type { Owner } from './crash-history.ts'
import type { KillCause } from '../protocol/contract.ts'
import type { Failure, Handle } from './handle.ts'

/** Whose jobs fail, and of what, when a process ends. */
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

/** The jobs that a sandbox process has at the moment, and until when it may have them. */
export class ProcessHandles {
  readonly #jobs = new Map<string, Handle>()
  readonly #deadlines = new Map<string, NodeJS.Timeout>()

  get size(): number {
    return this.#jobs.size
  }

  get(id: string): Handle | undefined {
    return this.#jobs.get(id)
  }

  [Symbol.iterator](): IterableIterator<Handle> {
    return this.#jobs.values()
  }

  /**
   * Adds a job.
   *
   * @param onOverdue it outlives its deadline; never called for a run that another one called, which has that one's
   */
  add(job: Handle, onOverdue: () => void): void {
    this.#jobs.set(job.id, job)
    if (job.runTree !== job.id) return
    this.#deadlines.set(job.id, setTimeout(onOverdue, job.limits.wallMilliseconds + graceMilliseconds))
  }

  remove({ id }: Handle): void {
    this.#jobs.delete(id)
    clearTimeout(this.#deadlines.get(id))
    this.#deadlines.delete(id)
  }

  /** Ends all of them: as failed those of the attributed runTree, as interrupted those of all others. */
  endAll(reason: string, attributed?: AttributedFailure): void {
    for (const job of this.#jobs.values()) {
      this.remove(job)
      if (attributed?.runTree === job.runTree) job.fail(attributed.failure, 0)
      else job.interrupt(reason, 0)
    }
  }
}

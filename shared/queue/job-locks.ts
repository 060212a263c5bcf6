import type { Worker } from 'bullmq'
import type { Logger } from '../telemetry/logger.ts'

/** Locks are renewed when they have reached this share of their duration. */
const renewedShare = 1 / 4

/** The lock of a job in flight. */
interface Lock {
  jobId: string
  token: string
  /** Time of the last renewal, or of the start, by `performance.now()`. */
  since: number
}

export interface JobLocksOptions {
  lockMilliseconds: number
  log: Logger
  /** BullMQ's worker; undefined until it is open. */
  receiver(): Pick<Worker, 'extendJobLocks' | 'emit'> | undefined
}

/**
 * The locks of the jobs in flight. A job that has ended needs no lock, and may have released it already.
 *
 * BullMQ's own renewal knows one lock for each job. When this worker takes a job that it has just requeued, the end of
 * the former run removes the new lock from there, which then expires under the job.
 */
export class JobLocks {
  readonly #options: JobLocksOptions
  readonly #locks = new Set<Lock>()
  readonly #timer: NodeJS.Timeout
  #isRenewing = false

  constructor(options: JobLocksOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#renew(), options.lockMilliseconds * renewedShare)
  }

  /** Renews the lock of a job for as long as `work` runs. */
  async renewDuring(jobId: string, token: string, work: () => Promise<void>): Promise<void> {
    const lock: Lock = { jobId, token, since: performance.now() }
    this.#locks.add(lock)
    try {
      await work()
    } finally {
      this.#locks.delete(lock)
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #renew(): Promise<void> {
    const { lockMilliseconds, log } = this.#options
    const receiver = this.#options.receiver()
    const oldest = performance.now() - lockMilliseconds * renewedShare
    const renewed = [...this.#locks].filter(({ since }) => since <= oldest)
    if (!receiver || renewed.length === 0 || this.#isRenewing) return
    this.#isRenewing = true
    const now = performance.now()
    for (const lock of renewed) lock.since = now
    const ids = renewed.map(({ jobId }) => jobId)
    const tokens = renewed.map(({ token }) => token)
    try {
      const failed = new Set(await receiver.extendJobLocks(ids, tokens, lockMilliseconds))
      const jobIds = renewed.filter((lock) => failed.has(lock.jobId) && this.#locks.has(lock)).map(({ jobId }) => jobId)
      if (jobIds.length > 0) log.warn({ jobIds }, 'Locks of running jobs expired; another worker takes the jobs over')
    } catch (error) {
      receiver.emit('error', error as Error)
    } finally {
      this.#isRenewing = false
    }
  }
}

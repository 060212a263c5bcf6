import { setTimeout as pause } from 'node:timers/promises'
import { WaitingError, type Processor } from 'bullmq'
import { isOutage } from '../errors.ts'
import { withLogFields } from '../telemetry/log-scope.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { JobLocks } from './job-locks.ts'
import {
  InterruptedError,
  RequeueError,
  queueName,
  reportErrors,
  type AnyJob,
  type JobName,
  type Jobs,
} from './queue.ts'
import { openQueueBackend, type QueueBackend, type QueueParts } from './queue-backend.ts'
import { queueTelemetry } from '../telemetry/tracing.ts'

export interface JobWorkerOptions {
  concurrency: number
  lockMilliseconds: number
  stalledMilliseconds: number
}

/** Whether a worker gets jobs: not yet, because it cannot open the queue; it does; or the queue refuses it jobs. */
export type JobWorkerState = 'starting' | 'ok' | 'unavailable'

/** The receiving end of the queue. Closing waits for the jobs in flight. */
export interface JobWorker {
  state(): JobWorkerState
  close(): Promise<void>
}

const interruptedMilliseconds = 100
/** The longest pause after an outage, or an interruption whose cause may last: wake-ups meanwhile add no other job. */
const maxInterruptedMilliseconds = 5000
const firstRetryMilliseconds = 200
/** PostgreSQL's largest integer, which stands for no limit. */
const maxStalls = 2 ** 31 - 1

/** Interval at which a worker checks whether its queue is available again, or can be opened. */
const retryMilliseconds = 1000
/** BullMQ's bound. A job that is requeued a hundred times a second reaches it after six hours. */
const lastPriority = 2 ** 21 - 1
/** How many times a job is retried because its connections broke although the database is available. */
const maxRetries = 5

/**
 * Opens the receiving end: `work` is called for each job, for many concurrently. When a worker dies, another one takes
 * its job after the lock has expired and the next check for stalled jobs has found it. A job that throws a RequeueError
 * is requeued.
 */
export function openJobWorker(
  parts: QueueParts & { metrics: Metrics },
  options: JobWorkerOptions,
  work: (job: AnyJob) => Promise<void>,
): JobWorker {
  const { dependencies, log, metrics } = parts
  const { broker, database } = dependencies
  const stopping = new AbortController()
  let receiver: ReturnType<typeof create> | undefined
  let backEnd: QueueBackend | undefined
  const { lockMilliseconds } = options
  const locks = new JobLocks({ lockMilliseconds, log, receiver: () => receiver })

  /** Waits and starts the job again when the database becomes unavailable, since that is no failure of the job. */
  async function workWhenUp(job: AnyJob): Promise<void> {
    for (let breaks = 0; ; breaks++) {
      if (!database.isUp()) await database.waitUntilUp(stopping.signal)
      try {
        return await work(job)
      } catch (error) {
        const wasCut = !database.isUp() && (isOutage(error) || error instanceof InterruptedError)
        if (!wasCut && (!isOutage(error) || breaks === maxRetries)) throw error
        await pause(firstRetryMilliseconds)
      }
    }
  }

  const process: Processor<Jobs[JobName], void, JobName> = (job, token) =>
    withLogFields({ jobId: job.id, job: job.name }, async () => {
      try {
        await locks.renewDuring(job.id!, token!, () => workWhenUp(job as AnyJob))
        metrics.jobs.inc({ job: job.name, outcome: 'done' })
      } catch (error) {
        metrics.jobs.inc({ job: job.name, outcome: outcomeOf(error) })
        if (!(error instanceof RequeueError)) throw error
        metrics.requeues.inc()
        // The back ends put a job back in front of those with its priority, where this worker would take it again, and
        // again, while the jobs of other bots wait behind it.
        await job.changePriority({ priority: Math.min(job.priority + 1, lastPriority) })
        await job.moveToWait(token)
        throw new WaitingError()
      }
    })

  function create({ Worker, connection, prefix }: QueueBackend) {
    /** BullMQ asks for the next job again at once when the back end refuses it one, as a Redis that is full does. */
    class PatientWorker extends Worker<Jobs[JobName], void, JobName> {
      protected override async moveToActive(...asked: [token: string, name?: string]) {
        try {
          return await super.moveToActive(...asked)
        } catch (error) {
          await pause(retryMilliseconds, undefined, { signal: stopping.signal }).catch(() => {})
          throw error
        }
      }
    }
    const worker = new PatientWorker(queueName, process, {
      connection,
      ...(prefix && { prefix }),
      ...queueTelemetry(),
      autorun: false,
      concurrency: options.concurrency,
      lockDuration: lockMilliseconds,
      skipLockRenewal: true,
      stalledInterval: options.stalledMilliseconds,
      runRetryDelay: retryMilliseconds,
      settings: { backoffStrategy: (attempts, _type, error) => pauseAfter(error, attempts) },
      // Deaths of workers are not attributed to the event: it is always handled in the end.
      maxStalledCount: maxStalls,
    })
    reportErrors(worker, parts)
    worker.on('failed', (job, error) => {
      const { id: jobId, name, data, attemptsMade } = job ?? {}
      log.error({ err: error, jobId, job: name, data, attempts: attemptsMade }, 'Job failed; retrying')
    })
    worker.on('stalled', (jobId) => {
      metrics.locksLost.inc()
      log.warn({ jobId }, 'Job taken over from a dead worker')
    })
    return worker
  }

  /**
   * Opens BullMQ's worker. Each attempt makes a new instance, because one that failed to open never recovers, with
   * connections of its own: an instance that is closed while it opens may take one afterwards, and keep it.
   */
  async function open(): Promise<ReturnType<typeof create> | undefined> {
    while (!stopping.signal.aborted) {
      await broker.waitUntilUp(stopping.signal)
      const attempted = openQueueBackend(parts, 'receives')
      backEnd = attempted
      const worker = create(attempted)
      try {
        await broker.failFast(() => worker.waitUntilReady())
        receiver = worker
        worker.run().catch((error: unknown) => log.error({ err: error }, 'Queue error'))
        return worker
      } catch (error) {
        if (broker.isUp()) log.error({ err: error }, 'Opening the queue failed; retrying')
        await Promise.race([worker.close().catch(() => {}), pause(retryMilliseconds)])
        void attempted.release().catch(() => {})
        await pause(retryMilliseconds, undefined, { signal: stopping.signal }).catch(() => {})
      }
    }
    return undefined
  }
  // The promise rejects when the worker is closed before its queue was ever available.
  const opening = open().catch(() => undefined)

  return {
    state() {
      if (!receiver) return 'starting'
      return backEnd?.health.isUp() ? 'ok' : 'unavailable'
    },
    async close() {
      stopping.abort()
      const closing = opening.then((worker) => worker?.close())
      await broker.failFast(() => closing).catch(() => {})
      locks.close()
      await backEnd?.release().catch(() => {})
      // Without connections BullMQ's worker waits for no job.
      await Promise.race([closing.catch(() => {}), pause(retryMilliseconds)])
    },
  }
}

function outcomeOf(error: unknown): string {
  if (error instanceof RequeueError) return 'put_back'
  return error instanceof InterruptedError ? 'interrupted' : 'failed'
}

function pauseAfter(error: Error | undefined, attempts: number): number {
  const doubling = 2 ** (attempts - 1)
  if (isOutage(error)) return Math.min(firstRetryMilliseconds * doubling, maxInterruptedMilliseconds)
  if (!(error instanceof InterruptedError)) return firstRetryMilliseconds * doubling
  return error.mayLast
    ? Math.min(interruptedMilliseconds * doubling, maxInterruptedMilliseconds)
    : interruptedMilliseconds
}

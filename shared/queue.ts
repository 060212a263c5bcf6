import { createPostgresBackend, createRedisBackend, withBackend, type BackendClasses, type IQueueBackend } from 'bullmq'
import type { Config } from './config.ts'
import type { Logger } from './logger.ts'
import { connectRedis } from './redis.ts'
import { connectionSettings } from './store/database.ts'

/**
 * The alarm clock. Everything that must happen is a row; a job only says where to look. Losing all jobs loses nothing,
 * because the worker's sweep wakes what has waited too long.
 *
 * Jobs are named after what woke them, and each has the data of its name.
 */
export interface Jobs {
  /** A chat message arrived: look into its conversation's mailbox. */
  message: { mailbox: string }
  /** Another event arrived, or is due: likewise. */
  event: { mailbox: string }
  /** A conversation's log has entries that its webhook waits for: send them. */
  webhook: { mailbox: string }
  /** An integration is to register or unregister itself: look into its installation's mailbox. */
  register: { mailbox: string }
  /** An installed integration has configured itself: see to what follows from it. The mailbox is its installation. */
  'configure-integration': { mailbox: string }
  /** What had to wait is due: wake it. */
  retry: { name: WakeName; mailbox: string }
  /** Code was uploaded: say what it declares. */
  inspection: { inspectionId: string }
}

export type JobName = keyof Jobs

/** The jobs that say where to look. */
export type WakeName = 'message' | 'event' | 'webhook' | 'register' | 'configure-integration'

/** Of these, those that look elsewhere than into the mailbox's events, and are looked after apart from them. */
const apart: ReadonlySet<WakeName> = new Set(['webhook', 'configure-integration'])

/** A job as its task gets it. */
export type AnyJob = { [Name in JobName]: { name: Name; data: Jobs[Name] } }[JobName]

/** The end of the queue that jobs are put in at. */
export interface WakeQueue {
  /**
   * Has a worker look into a mailbox, or after a conversation's webhook. At most one job of each is active and one
   * waits, and a wake during a run always gets a run after it.
   */
  wake(name: WakeName, mailbox: string): Promise<void>
  /** Has a worker do that when the delay is over. */
  wakeLater(name: WakeName, mailbox: string, delayMilliseconds: number): Promise<void>
  /** Has a worker inspect uploaded code, before the mailboxes that wait: a person waits too. */
  inspect(inspectionId: string): Promise<void>
  close(): Promise<void>
}

export interface JobWorkerOptions {
  concurrency: number
  lockMilliseconds: number
  stalledMilliseconds: number
}

/** The end of the queue that jobs are taken out at. Closing waits for the jobs under way. */
export interface JobWorker {
  close(): Promise<void>
}

/** A job's work was cut short, and will not be the next time as far as anybody knows: it is taken up again at once. */
export class InterruptedError extends Error {
  override name = 'InterruptedError'
}

const queueName = 'events'
const interruptedMilliseconds = 100
const firstRetryMilliseconds = 200
/** PostgreSQL's largest integer: as good as never. */
const mostStalls = 2 ** 31 - 1

/** Opens the sending end. */
export function openQueue(config: Config, log: Logger): WakeQueue {
  const { Queue, connection, release } = backend(config, log, { connections: 2, patience: 'fails' })
  const queue = new Queue<Jobs[JobName], void, JobName>(queueName, {
    connection,
    ...(config.redis && { prefix: config.redis.prefix }),
    defaultJobOptions: {
      // Rows tell what happened; finished jobs are of no use.
      removeOnComplete: true,
      removeOnFail: true,
      // A job fails when the database is away. The sweep comes later than this: it is the second net.
      attempts: 10,
      backoff: { type: 'custom' },
    },
  })
  queue.on('error', (error) => log.error({ err: error }, 'The queue reports an error'))
  return {
    async wake(name, mailbox) {
      const id = apart.has(name) ? `${name}-${mailbox}` : mailbox
      await queue.add(name, { mailbox }, { deduplication: { id, keepLastIfActive: true } })
    },
    async wakeLater(name, mailbox, delay) {
      await queue.add('retry', { name, mailbox }, { delay })
    },
    async inspect(inspectionId) {
      await queue.add('inspection', { inspectionId }, { lifo: true })
    },
    async close() {
      await queue.close()
      release()
    },
  }
}

/**
 * Opens the receiving end: `work` is called for each job, many at once. A job whose worker dies is taken by another
 * when its lock has run out and the next look for stalled jobs finds it.
 */
export function openJobWorker(
  config: Config,
  log: Logger,
  options: JobWorkerOptions,
  work: (job: AnyJob) => Promise<void>,
): JobWorker {
  const { Worker, connection, release } = backend(config, log, { connections: 5, patience: 'waits' })
  const worker = new Worker<Jobs[JobName], void, JobName>(queueName, (job) => work(job as AnyJob), {
    connection,
    ...(config.redis && { prefix: config.redis.prefix }),
    concurrency: options.concurrency,
    lockDuration: options.lockMilliseconds,
    stalledInterval: options.stalledMilliseconds,
    settings: { backoffStrategy: (attempts, _type, error) => pauseAfter(error, attempts) },
    // However often workers die, the event is not to blame: it is handled in the end.
    maxStalledCount: mostStalls,
  })
  worker.on('error', (error) => log.error({ err: error }, 'The queue reports an error'))
  worker.on('failed', (job, error) => log.error({ err: error, job: job?.name, data: job?.data }, 'A job failed'))
  worker.on('stalled', (jobId) => log.warn({ jobId }, 'A job was taken over from a worker that is gone'))
  return {
    async close() {
      await worker.close()
      release()
    },
  }
}

function pauseAfter(error: Error | undefined, attempts: number): number {
  return error instanceof InterruptedError ? interruptedMilliseconds : firstRetryMilliseconds * 2 ** (attempts - 1)
}

type AnyClasses = BackendClasses<IQueueBackend, unknown>

interface Backend extends AnyClasses {
  connection: unknown
  /** Closes what BullMQ leaves to us. */
  release(): void
}

interface BackendOptions {
  /** How many connections to PostgreSQL the queue's own pool may hold. */
  connections: number
  /** What commands do while Redis is away. */
  patience: 'waits' | 'fails'
}

/** Chooses where jobs live: in Redis when it is configured, else in PostgreSQL. Nothing else knows. */
function backend(config: Config, log: Logger, { connections, patience }: BackendOptions): Backend {
  if (!config.redis) {
    const connection = { ...connectionSettings(config.database), max: connections }
    return { ...(withBackend(createPostgresBackend) as unknown as AnyClasses), connection, release() {} }
  }
  const connection = connectRedis(config.redis, log, patience)
  return {
    ...(withBackend(createRedisBackend) as unknown as AnyClasses),
    connection,
    release: () => connection.disconnect(),
  }
}

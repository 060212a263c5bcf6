import type { IQueueBackend, JobsOptions, Queue } from 'bullmq'
import { outsideOfScopes } from '../telemetry/log-scope.ts'
import { batched } from '../batch.ts'
import { openQueueBackend, type QueueParts } from './queue-backend.ts'
import { queueTelemetry } from '../telemetry/tracing.ts'
import { JobPriority } from './job-priority.ts'
import { openMissedWakes } from './missed-wakes.ts'

/**
 * The wake-ups. All work is stored in rows; a job only names the row to look at. The loss of all jobs loses nothing,
 * because the worker's sweep wakes workers for rows that have waited too long.
 *
 * Jobs are named after their cause, and each name has its own data.
 */
export interface Jobs {
  /** A chat message arrived: handle its conversation's mailbox. */
  message: BotMailbox
  /** Another event arrived, or is due: handle its mailbox. */
  event: BotMailbox
  /** A conversation's log has entries for its webhook: send them. */
  webhook: BotMailbox
  /** An integration has to register or unregister: handle its installation's mailbox. */
  register: BotMailbox
  /** An installed integration has configured itself: apply the consequences. The mailbox is its installation. */
  'configure-integration': BotMailbox
  /** A file waits to be indexed. The mailbox is the file. */
  'index-file': BotMailbox
  /** A table is to be imported or exported. The mailbox is the job's row. */
  'table-job': BotMailbox
  /** Passages of a file wait for vectors. The mailbox is the file. */
  'embed-file': BotMailbox
  /** Rows of a table wait for computed values. The mailbox is the table. */
  'recompute-rows': BotMailbox
  /** News of a workspace's inbox wait for its webhook. The mailbox is the workspace, and takes the place of the bot. */
  'inbox-webhook': BotMailbox
  /** A delayed wake-up is due: enqueue it. */
  retry: BotMailbox & { name: WakeName }
  /** Code was uploaded: inspect it. */
  inspection: { inspectionId: string; workspaceId: string }
  /** A script of an integration is to be run. */
  script: { scriptRunId: string; workspaceId: string }
  /** Scripts of an integration were uploaded: compile them. */
  'script-check': { scriptCheckId: string; workspaceId: string }
}

/** The mailbox, and the bot that owns it. */
interface BotMailbox {
  mailbox: string
  botId: string
}

export type JobName = keyof Jobs

/** The jobs that wake a worker for a mailbox. */
export type WakeName =
  | 'message'
  | 'event'
  | 'webhook'
  | 'register'
  | 'configure-integration'
  | 'index-file'
  | 'table-job'
  | 'embed-file'
  | 'recompute-rows'
  | 'inbox-webhook'

/** Those of these jobs that do not handle the mailbox's events. They are deduplicated separately. */
const apart: ReadonlySet<WakeName> = new Set([
  'webhook',
  'configure-integration',
  'index-file',
  'table-job',
  'embed-file',
  'recompute-rows',
  'inbox-webhook',
])

/** A job as its task receives it; `attemptsMade` counts the attempts before this one. */
export type AnyJob = { [Name in JobName]: { name: Name; data: Jobs[Name]; attemptsMade: number } }[JobName]

/** Jobs by state: waiting for a worker, in flight, delayed, failed finally. */
export type QueueCounts = Record<'waiting' | 'active' | 'delayed' | 'failed', number>

/** The sending end of the queue. */
export interface WakeQueue {
  /**
   * Has a worker handle a mailbox, or a conversation's webhook. At most one job of each is active and one waits, and a
   * wake-up during a run is always followed by another run. The more wake-ups the bot has had recently, the lower the
   * priority. The queue repeats a wake-up of this method and the next two that fails.
   */
  wake(name: WakeName, mailbox: string, botId: string): Promise<void>
  /**
   * The same for a mailbox that has waited too long. The queue may have lost a part of a job, as a Redis does that evicts keys:
   * while it has the key by which the job's wake-ups are deduplicated, it adds no other.
   */
  wakeOverdue(name: WakeName, mailbox: string, botId: string): Promise<void>
  /** Enqueues the same wake-up after a delay. */
  wakeLater(name: WakeName, mailbox: string, botId: string, delayMilliseconds: number): Promise<void>
  /** Has a worker inspect uploaded code, ahead of all mailboxes, because a person waits for the result. */
  inspect(inspectionId: string, workspaceId: string): Promise<void>
  /** Has a worker run a script of an integration, ahead of all mailboxes, because a request waits for the result. */
  runScript(scriptRunId: string, workspaceId: string): Promise<void>
  /** Has a worker compile uploaded scripts, ahead of all mailboxes, because a person waits for the result. */
  checkScripts(scriptCheckId: string, workspaceId: string): Promise<void>
  /** Whether the queue takes jobs: asks it after a failure, which may be that of its own connection alone. */
  isUsable(): Promise<boolean>
  /** The number of jobs, of all tenants. */
  counts(): Promise<QueueCounts>
  close(): Promise<void>
}

/** A job was interrupted by a failure that is not expected to recur: it is retried at once. */
export class InterruptedError extends Error {
  override name = 'InterruptedError'
  /** Whether the cause may last: then each retry comes later than the last one. */
  readonly mayLast: boolean

  constructor(message: string, { mayLast = false } = {}) {
    super(message)
    this.mayLast = mayLast
  }
}

/** This worker has no slot for a job: the job is requeued for any worker that has one. */
export class RequeueError extends Error {
  override name = 'RequeueError'

  constructor() {
    super('The bot uses its full share of the worker')
  }
}

export const queueName = 'events'

/** Minimum time between two questions whether the queue is usable, on behalf of probes. */
const attemptMilliseconds = 500

/** Upper bound of jobs per statement, where one statement adds several. */
const batchSize = 100

interface NewJob {
  name: JobName
  data: Jobs[JobName]
  opts: JobsOptions
}

/** Opens the sending end. Its methods fail with an ApiError 503 while the queue's back end is unavailable. */
export function openQueue(parts: QueueParts): WakeQueue {
  const { broker } = parts.dependencies
  const { Queue, connection, prefix, addsTogether, release } = openQueueBackend(parts, 'sends')
  const create = () =>
    new Queue<Jobs[JobName], void, JobName>(queueName, {
      connection,
      ...(prefix && { prefix }),
      ...queueTelemetry(),
      defaultJobOptions: {
        // Outcomes are in rows; finished jobs are of no use.
        removeOnComplete: true,
        removeOnFail: true,
        // A job fails when the database is unavailable. The sweep comes later than these retries.
        attempts: 10,
        backoff: { type: 'custom' },
      },
    })
  type OpenQueue = ReturnType<typeof create>
  let opening: Promise<OpenQueue> | undefined

  /** Opens BullMQ's queue. Each attempt makes a new instance, because one that failed to open never recovers. */
  async function open(): Promise<OpenQueue> {
    // The queue outlives the request that opens it, so its log lines must not bear that request's fields.
    const queue = outsideOfScopes(create)
    reportErrors(queue, parts)
    try {
      await queue.waitUntilReady()
      return queue
    } catch (error) {
      opening = undefined
      await queue.close().catch(() => {})
      throw error
    }
  }

  /** Whether the last question failed although the broker was available. */
  let hasFailed = false
  let attempt = { until: 0, isUsable: Promise.resolve(true) }

  async function ask<Answer>(question: (queue: OpenQueue) => Promise<Answer>): Promise<Answer> {
    try {
      const answer = await broker.failFast(async () => question(await (opening ??= open())))
      hasFailed = false
      return answer
    } catch (error) {
      hasFailed = broker.isUp()
      throw error
    }
  }

  async function addOne({ name, data, opts }: NewJob): Promise<void> {
    await ask((queue) => queue.add(name, data, opts))
  }
  const addInBatch = batched(async (jobs: NewJob[]): Promise<void[]> => {
    await (jobs.length === 1 ? addOne(jobs[0]!) : ask((queue) => queue.addBulk(jobs)))
    return jobs.map(() => undefined)
  }, batchSize)
  // A batch has one trace, and each job is to be in that of its request.
  const addJob = addsTogether && !queueTelemetry().telemetry ? addInBatch : addOne
  const add = (name: JobName, data: Jobs[JobName], opts: JobsOptions) => addJob({ name, data, opts })

  const order = new JobPriority()
  const addWake: WakeQueue['wakeLater'] = async (name, mailbox, botId, delay) => {
    if (delay > 0) return add('retry', { name, mailbox, botId }, { delay })
    const id = deduplicationId(name, mailbox)
    const priority = order.next(botId)
    await add(name, { mailbox, botId }, { priority, deduplication: { id, keepLastIfActive: true } })
  }
  const wakes = openMissedWakes(broker, addWake)
  return {
    wake: (name, mailbox, botId) => wakes.add(name, mailbox, botId),
    async wakeOverdue(name, mailbox, botId) {
      // PostgreSQL keeps or loses a job together with its key.
      if (!addsTogether) await ask((queue) => forgetLostJob(queue, deduplicationId(name, mailbox)))
      await wakes.add(name, mailbox, botId)
    },
    wakeLater: (name, mailbox, botId, delay) => wakes.add(name, mailbox, botId, delay),
    async inspect(inspectionId, workspaceId) {
      await add('inspection', { inspectionId, workspaceId }, { lifo: true })
    },
    async runScript(scriptRunId, workspaceId) {
      await add('script', { scriptRunId, workspaceId }, { lifo: true })
    },
    async checkScripts(scriptCheckId, workspaceId) {
      await add('script-check', { scriptCheckId, workspaceId }, { lifo: true })
    },
    async isUsable() {
      // Without a failure there is nothing to find out, and an idle process needs no connection.
      if (!hasFailed) return true
      const now = performance.now()
      if (now >= attempt.until) {
        const isUsable = succeeds(ask((queue) => queue.getJobCountByTypes('active')))
        attempt = { until: now + attemptMilliseconds, isUsable }
      }
      return attempt.isUsable
    },
    async counts() {
      // BullMQ counts jobs with a priority above 0 as `prioritized`, apart from `wait`.
      const counted = await ask((queue) => queue.getJobCounts('wait', 'prioritized', 'active', 'delayed', 'failed'))
      const { wait = 0, prioritized = 0, active = 0, delayed = 0, failed = 0 } = counted
      return { waiting: wait + prioritized, active, delayed, failed }
    },
    async close() {
      wakes.close()
      await broker.failFast(async () => (await opening)?.close()).catch(() => {})
      await release()
    },
  }
}

const succeeds = (answer: Promise<unknown>): Promise<boolean> =>
  answer.then(
    () => true,
    () => false,
  )

function deduplicationId(name: WakeName, mailbox: string): string {
  return apart.has(name) ? `${name}-${mailbox}` : mailbox
}

type LostJobs = Pick<Queue, 'getDeduplicationJobId' | 'getJobState' | 'remove'> & {
  backend: Pick<IQueueBackend, 'removeDeduplicationKey'>
}

/** Removes what is left of the job with a deduplication key if no worker will run it. */
async function forgetLostJob(queue: LostJobs, id: string): Promise<void> {
  const jobId = await queue.getDeduplicationJobId(id)
  if (jobId === null || !lostStates.has(await queue.getJobState(jobId))) return
  await queue.backend.removeDeduplicationKey(id, jobId)
  await queue.remove(jobId)
}

/** Of a job that is in no list, or has ended without the removal of its key. */
const lostStates: ReadonlySet<string> = new Set(['unknown', 'completed', 'failed'])

/** Logs the errors of a queue or a worker, except while the queue's back end is known to be unavailable. */
export function reportErrors(
  source: { on(event: 'error', listener: (error: Error) => void): unknown },
  { dependencies, log }: QueueParts,
): void {
  source.on('error', (error) => {
    const level = dependencies.broker.isUp() ? 'error' : 'debug'
    outsideOfScopes(() => log[level]({ err: error }, 'Queue error'))
  })
}

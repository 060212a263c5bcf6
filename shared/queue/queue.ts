import { outsideOfScopes } from '../telemetry/log-scope.ts'
import { openQueueBackend, type QueueParts } from './queue-backend.ts'
import { queueTelemetry } from '../telemetry/tracing.ts'
import { JobPriority } from './job-priority.ts'

/**
 * The alarm clock. Everything that must happen is a row; a job only says where to look. Losing all jobs loses nothing,
 * because the worker's sweep wakes what has waited too long.
 *
 * Jobs are named after what woke them, and each has the data of its name.
 */
export interface Jobs {
  /** A chat message arrived: look into its conversation's mailbox. */
  message: BotMailbox
  /** Another event arrived, or is due: likewise. */
  event: BotMailbox
  /** A conversation's log has entries that its webhook waits for: send them. */
  webhook: BotMailbox
  /** An integration is to register or unregister itself: look into its installation's mailbox. */
  register: BotMailbox
  /** An installed integration has configured itself: see to what follows from it. The mailbox is its installation. */
  'configure-integration': BotMailbox
  /** What had to wait is due: wake it. */
  retry: BotMailbox & { name: WakeName }
  /** Code was uploaded: say what it declares. */
  inspection: { inspectionId: string; workspaceId: string }
}

/** Where to look, and whose it is. */
interface BotMailbox {
  mailbox: string
  botId: string
}

export type JobName = keyof Jobs

/** The jobs that say where to look. */
export type WakeName = 'message' | 'event' | 'webhook' | 'register' | 'configure-integration'

/** Of these, those that look elsewhere than into the mailbox's events, and are looked after apart from them. */
const apart: ReadonlySet<WakeName> = new Set(['webhook', 'configure-integration'])

/** A job as its task gets it. */
export type AnyJob = { [Name in JobName]: { name: Name; data: Jobs[Name] } }[JobName]

/** Jobs by what they do: wait for a worker, are at one, wait for their time, have failed for good. */
export type QueueCounts = Record<'waiting' | 'active' | 'delayed' | 'failed', number>

/** The end of the queue that jobs are put in at. */
export interface WakeQueue {
  /**
   * Has a worker look into a mailbox, or after a conversation's webhook. At most one job of each is active and one
   * waits, and a wake during a run always gets a run after it. The more wake-ups the bot has had lately, the further
   * back it waits.
   */
  wake(name: WakeName, mailbox: string, botId: string): Promise<void>
  /** Has a worker do that when the delay is over. */
  wakeLater(name: WakeName, mailbox: string, botId: string, delayMilliseconds: number): Promise<void>
  /** Has a worker inspect uploaded code, before the mailboxes that wait: a person waits too. */
  inspect(inspectionId: string, workspaceId: string): Promise<void>
  /** How many jobs there are, of all tenants. */
  counts(): Promise<QueueCounts>
  close(): Promise<void>
}

/** A job's work was cut short, and will not be the next time as far as anybody knows: it is taken up again at once. */
export class InterruptedError extends Error {
  override name = 'InterruptedError'
}

/** There is no place for a job here now: it waits in the queue again, for whichever worker has one. */
export class RequeueError extends Error {
  override name = 'RequeueError'

  constructor() {
    super('The bot uses its full share of the worker')
  }
}

export const queueName = 'events'

/** Opens the sending end. What it is asked for fails with an ApiError 503 while the queue's back end is away. */
export function openQueue(parts: QueueParts): WakeQueue {
  const { broker } = parts.dependencies
  const { Queue, connection, prefix, release } = openQueueBackend(parts, 'sends')
  const create = () =>
    new Queue<Jobs[JobName], void, JobName>(queueName, {
      connection,
      ...(prefix && { prefix }),
      ...queueTelemetry(),
      defaultJobOptions: {
        // Rows tell what happened; finished jobs are of no use.
        removeOnComplete: true,
        removeOnFail: true,
        // A job fails when the database is away. The sweep comes later than this: it is the second net.
        attempts: 10,
        backoff: { type: 'custom' },
      },
    })
  type OpenQueue = ReturnType<typeof create>
  let opening: Promise<OpenQueue> | undefined

  /** BullMQ's queue is of no use for good when it could not be opened at first. */
  async function open(): Promise<OpenQueue> {
    // Whichever request is the first to need it: what is said of it later is not that one's.
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

  function ask<Answer>(question: (queue: OpenQueue) => Promise<Answer>): Promise<Answer> {
    return broker.failFast(async () => question(await (opening ??= open())))
  }

  async function add(...job: Parameters<OpenQueue['add']>): Promise<void> {
    await ask((queue) => queue.add(...job))
  }

  const order = new JobPriority()
  return {
    async wake(name, mailbox, botId) {
      const id = apart.has(name) ? `${name}-${mailbox}` : mailbox
      const priority = order.next(botId)
      await add(name, { mailbox, botId }, { priority, deduplication: { id, keepLastIfActive: true } })
    },
    async wakeLater(name, mailbox, botId, delay) {
      await add('retry', { name, mailbox, botId }, { delay })
    },
    async inspect(inspectionId, workspaceId) {
      await add('inspection', { inspectionId, workspaceId }, { lifo: true })
    },
    async counts() {
      // A wake-up has a priority and waits in a list of its own.
      const counted = await ask((queue) => queue.getJobCounts('wait', 'prioritized', 'active', 'delayed', 'failed'))
      const { wait = 0, prioritized = 0, active = 0, delayed = 0, failed = 0 } = counted
      return { waiting: wait + prioritized, active, delayed, failed }
    },
    async close() {
      await broker.failFast(async () => (await opening)?.close()).catch(() => {})
      await release()
    },
  }
}

/**
 * Logs the errors of a queue or a worker. While the queue's back end is away, that is known.
 *
 * @param isToldElsewhere of which errors nothing is to be logged
 */
export function reportErrors(
  source: { on(event: 'error', listener: (error: Error) => void): unknown },
  { dependencies, log }: QueueParts,
  isToldElsewhere: (error: Error) => boolean = () => false,
): void {
  source.on('error', (error) => {
    if (isToldElsewhere(error)) return
    const level = dependencies.broker.isUp() ? 'error' : 'debug'
    outsideOfScopes(() => log[level]({ err: error }, 'Queue error'))
  })
}

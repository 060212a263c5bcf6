import { createPostgresBackend, createRedisBackend, withBackend, type BackendClasses, type IQueueBackend } from 'bullmq'
import { Redis } from 'ioredis'
import { queuePoolSize, workerConcurrency } from '../system.ts'
import { environment } from './environment.ts'

/** The job for a message. */
export interface MessageJob {
  conversationId: string
  text: string
}

/** Opens the sending end; returns the function that adds a job. */
export function openFloorQueue(): (job: MessageJob) => Promise<unknown> {
  const { Queue, connection } = backend(2)
  const queue = new Queue<MessageJob>('floor', { connection, defaultJobOptions: { removeOnComplete: true } })
  return (job) => queue.add('message', job)
}

/** Opens the receiving end: `work` is called for each job. */
export function openFloorWorker(work: (job: MessageJob) => Promise<void>): void {
  const { Worker, connection } = backend(queuePoolSize)
  const worker = new Worker<MessageJob>('floor', ({ data }) => work(data), {
    connection,
    concurrency: workerConcurrency,
  })
  worker.on('failed', (_job, error) => console.error(error))
}

type AnyClasses = BackendClasses<IQueueBackend, unknown>

function backend(connections: number): AnyClasses & { connection: unknown } {
  const { redisUrl, databaseUrl } = environment
  if (!redisUrl) {
    const connection = { connectionString: databaseUrl, max: connections }
    return { ...(withBackend(createPostgresBackend) as unknown as AnyClasses), connection }
  }
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null })
  return { ...(withBackend(createRedisBackend) as unknown as AnyClasses), connection }
}

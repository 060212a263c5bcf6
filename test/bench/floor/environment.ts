import { once } from 'node:events'
import { untilParentGone } from '#shared/process/parent-process.ts'

/** The configuration of a process of the floor. Without Redis, PostgreSQL carries jobs and signals too. */
export const environment = {
  databaseUrl: process.env.DATABASE_URL ?? '',
  redisUrl: process.env.REDIS_URL,
  port: Number(process.env.PORT),
}

/** Ends this process on a signal, or when its parent has ended. The floor has no work to finish. */
export async function exitWhenAsked(): Promise<void> {
  await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT'), untilParentGone()])
  process.exit()
}

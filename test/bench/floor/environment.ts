import { once } from 'node:events'
import { untilParentGone } from '#shared/process/parent-process.ts'

/** What a process of the floor is told. Without a Redis, PostgreSQL carries jobs and signals too. */
export const environment = {
  databaseUrl: process.env.DATABASE_URL ?? '',
  redisUrl: process.env.REDIS_URL,
  port: Number(process.env.PORT),
}

/** Ends this process when it is asked to, or when nobody is left to ask. The floor has nothing to finish. */
export async function exitWhenAsked(): Promise<void> {
  await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT'), untilParentGone()])
  process.exit()
}

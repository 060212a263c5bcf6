import { administer } from './databases.ts'
import type { Platform } from './platform.ts'
import { removeKeys } from './redis.ts'

/** Removes the locks of all jobs in flight, so that their holders cannot renew them. */
export async function expireLocks({ context, environment }: Platform): Promise<void> {
  const { redis } = context.config
  if (redis) await removeKeys(redis.url, `${redis.prefix}:events:*:lock`)
  else await administer(environment['DATABASE_URL']!, `update bullmq.job set lock_token = 'lost', locked_until_ms = 1`)
}

import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { readConfig } from '#shared/config/config.ts'
import { openContext } from '#shared/context.ts'
import { openJobWorker } from '#shared/queue/job-worker.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { openLink } from '../../chaos/network.ts'
import { createDatabase } from '../../support/databases.ts'
import { startRedis } from '../../support/redis.ts'

const options = { concurrency: 2, lockMilliseconds: 30_000, stalledMilliseconds: 60_000 }

const portOf = ({ url }: { url: string }) => Number(new URL(url).port)

test('after a failover, whose address leads to the new primary while the former one is a replica, jobs are added and taken', async () => {
  await using parts = new AsyncDisposableStack()
  const [former, next] = await Promise.all([startRedis(), startRedis()])
  for (const server of [former, next]) parts.defer(() => server.stop())
  let target = portOf(former)
  const link = parts.use(await openLink(() => target))
  const { url } = parts.adopt(await createDatabase(), (open) => open.drop())
  const config = readConfig({
    DATABASE_URL: url,
    REDIS_URL: `redis://127.0.0.1:${link.port}`,
    ISOBOT_SECRET: 'a secret of at least thirty-two characters',
  })
  const { dependencies, queue, ...context } = parts.use(openContext(config, createLogger('test', 'silent')))
  const taken: string[] = []
  const jobs = openJobWorker({ ...context, dependencies }, options, async (job) => {
    if ('mailbox' in job.data) taken.push(job.data.mailbox)
  })
  parts.defer(() => jobs.close())
  await queue.wake('event', 'before', 'bot')
  await expect.poll(() => taken, { timeout: 10_000 }).toEqual(['before'])

  const operator = parts.adopt(new Redis(former.url), (redis) => redis.disconnect())
  target = portOf(next)
  await operator.replicaof('127.0.0.1', target)
  const wake = () =>
    queue.wake('event', 'after', 'bot').then(
      () => true,
      () => false,
    )
  await expect.poll(wake, { timeout: 10_000 }).toBe(true)
  // BullMQ pauses for 5 s and more after the errors of a replica.
  await expect.poll(() => taken, { timeout: 5000 }).toContain('after')
  await expect.poll(() => dependencies.redis!.check(1000)).toBe(true)
}, 60_000)

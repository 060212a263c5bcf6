import { expect, test } from 'vitest'
import { readConfig } from '#shared/config/config.ts'
import { openContext } from '#shared/context.ts'
import { openJobWorker } from '#shared/queue/job-worker.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { openLinkTo } from '../../chaos/network.ts'
import { openPlatform } from '../../support/platform.ts'

const options = { concurrency: 2, lockMilliseconds: 30_000, stalledMilliseconds: 60_000 }
const waiting = { wait_event_type: 'Lock' }
const pings = { query: 'select clock_timestamp() as now' }

test('a worker whose database became unavailable while it opened the queue takes jobs, although the first attempt ends later', async () => {
  await using parts = new AsyncDisposableStack()
  const platform = parts.use(await openPlatform({ backEnd: 'postgres', worker: false }))
  const { db, queue } = platform.context
  const { link, url } = await openLinkTo(platform.environment['DATABASE_URL']!)
  parts.use(link)
  const config = readConfig({ ...platform.environment, DATABASE_URL: url })
  const context = parts.use(openContext(config, createLogger('test', config.logLevel)))
  const { database } = context.dependencies
  const activity = () => db('pg_stat_activity').whereRaw('datname = current_database()')

  const taken: string[] = []
  await db.transaction(async (transaction) => {
    await transaction.raw('lock table bullmq.migration in access exclusive mode')
    const jobs = openJobWorker(context, options, async ({ name }) => void taken.push(name))
    parts.defer(() => jobs.close())
    await expect.poll(() => activity().where(waiting)).toHaveLength(1)
    // Those of the platform and of this context.
    await expect.poll(() => activity().where(pings)).toHaveLength(2)
    // The pings fail; the connection that waits for the lock stays.
    link.refuse()
    await activity().where(pings).select(db.raw('pg_terminate_backend(pid)'))
    await expect.poll(() => database.isUp()).toBe(false)
    link.mend()
  })
  await queue.wake('event', 'mailbox', 'bot')
  await expect.poll(() => taken).toEqual(['event'])
})

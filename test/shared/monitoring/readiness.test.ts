import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readConfig, type Config } from '#shared/config/config.ts'
import { openContext, type Context } from '#shared/context.ts'
import { readReadiness } from '#shared/monitoring/readiness.ts'
import { openJobWorker, type JobWorker } from '#shared/queue/job-worker.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { startMonitoringServer } from '../../../worker/metrics/monitoring-server.ts'
import { freePort } from '../../../cli/postgres/free-port.ts'
import { openLinkTo, type Link } from '../../chaos/network.ts'
import { createDatabase } from '../../support/databases.ts'
import { startRedis } from '../../support/redis.ts'

/** The longest that a probe of a platform waits. */
const answerMilliseconds = 2000
/** The longest until a failure of connections, or its end, is known. */
const patience = { timeout: 30_000, interval: 50 }
const options = { concurrency: 2, lockMilliseconds: 30_000, stalledMilliseconds: 60_000 }

let parts: AsyncDisposableStack
let link: Link
let config: Config
beforeEach(async () => {
  parts = new AsyncDisposableStack()
  const database = parts.adopt(await createDatabase(), (open) => open.drop())
  const linked = await openLinkTo(database.url)
  link = parts.use(linked.link)
  config = configOf({ DATABASE_URL: linked.url })
})
afterEach(() => parts.disposeAsync())

function configOf(environment: NodeJS.ProcessEnv): Config {
  return readConfig({ ISOBOT_SECRET: 'a secret of at least thirty-two characters', ...environment })
}

const open = (settings: Config): Context => parts.use(openContext(settings, createLogger('test', 'silent')))

/** The pool of the context's statements. */
function poolOf({ db }: Context) {
  const { pool } = db.client as { pool: { on(event: string, listener: () => void): void; numUsed(): number } }
  return pool
}

async function readyz(context: Context) {
  const begin = performance.now()
  const readiness = await readReadiness(context)
  expect(performance.now() - begin).toBeLessThan(answerMilliseconds)
  return readiness
}

/** No connection can be opened any more, as at PostgreSQL's limit of connections; that of the pings stays. */
function refuseConnections(context: Context): void {
  link.refuse()
  context.dependencies.database.connections.cut()
}

test('a process whose pool gets no connection is not ready, although its pings are answered', async () => {
  const context = open(config)
  await expect.poll(() => readyz(context), patience).toEqual({ status: 'ok', database: 'ok' })
  refuseConnections(context)
  const unready = { status: 'unavailable', database: 'unavailable' }
  await expect.poll(() => readyz(context), patience).toEqual(unready)
  expect(context.dependencies.database.isUp()).toBe(true)
  link.mend()
  await expect.poll(() => readyz(context), patience).toEqual({ status: 'ok', database: 'ok' })
})

test('a process that gets no connection to add jobs is not ready, although it has others', async () => {
  const context = open(config)
  const ok = { status: 'ok', database: 'ok' }
  await expect.poll(() => readyz(context), patience).toEqual(ok)
  link.refuse()
  await expect(context.queue.wake('event', 'mailbox', 'bot')).rejects.toBeInstanceOf(Error)
  expect(await readyz(context)).toEqual({ status: 'unavailable', database: 'unavailable' })
  expect(context.dependencies.database.isUp()).toBe(true)
  link.mend()
  await expect.poll(() => readyz(context), patience).toEqual(ok)
})

test('the probes of an idle process share one connection, and those of a refused one few attempts', async () => {
  const context = open(config)
  const created = { count: 0 }
  poolOf(context).on('createRequest', () => (created.count += 1))
  await expect.poll(() => readyz(context), patience).toMatchObject({ status: 'ok' })
  for (let probe = 0; probe < 20; probe++) await Promise.all([readyz(context), readyz(context), readyz(context)])
  expect(created.count).toBe(1)
  refuseConnections(context)
  await expect.poll(() => readyz(context), patience).toMatchObject({ status: 'unavailable' })
  const [before, begin] = [created.count, performance.now()]
  for (let probe = 0; probe < 20; probe++) await Promise.all([readyz(context), readyz(context), readyz(context)])
  expect(created.count - before).toBeLessThan(3 + (performance.now() - begin) / 250)
})

test('a process whose connections are all busy is ready', async () => {
  const context = open(config)
  const { db, dependencies } = context
  await expect.poll(() => dependencies.database.check(1000)).toBe(true)
  const held = await db.transaction()
  await held.raw('select pg_advisory_xact_lock(1)')
  const waiting = [1, 2].map(async () => db.raw('select pg_advisory_xact_lock_shared(1)'))
  await expect.poll(() => poolOf(context).numUsed()).toBe(config.database.poolSize)
  const queued = (async () => db.raw('select 1'))()
  link.refuse()
  expect(await readyz(context)).toEqual({ status: 'ok', database: 'ok' })
  await held.commit()
  await Promise.all([...waiting, queued])
})

test('a process is not ready while it cannot renew one of its connections to Redis', async () => {
  const server = parts.adopt(await startRedis(), (open) => open.stop())
  const operator = parts.adopt(new Redis(server.url), (redis) => redis.disconnect())
  const context = open({ ...config, redis: { url: server.url, allowSelfSigned: false, prefix: 'readiness' } })
  const ok = { status: 'ok', database: 'ok', redis: 'ok' }
  await context.signals.subscribe('topic', () => {})
  await expect.poll(() => readyz(context), patience).toEqual(ok)
  // The connections for signals need the new password, the one of the pings has shown the former.
  await operator.config('SET', 'requirepass', 'rotated')
  await operator.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
  await expect.poll(() => readyz(context), patience).toEqual({ ...ok, status: 'unavailable', redis: 'unavailable' })
  expect(context.dependencies.redis!.isUp()).toBe(true)
  await operator.config('SET', 'requirepass', '')
  await expect.poll(() => readyz(context), patience).toEqual(ok)
})

test('a process whose Redis does not have the database of its address is not ready, and uses no other one', async () => {
  const server = parts.adopt(await startRedis(), (open) => open.stop())
  const operator = parts.adopt(new Redis(server.url), (redis) => redis.disconnect())
  const context = open({ ...config, redis: { url: `${server.url}/99`, allowSelfSigned: false, prefix: 'readiness' } })
  const unready = { status: 'unavailable', database: 'ok', redis: 'unavailable' }
  await expect.poll(() => readyz(context), patience).toEqual(unready)
  await expect(context.queue.wake('event', 'mailbox', 'bot')).rejects.toMatchObject({ status: 503 })
  expect(await operator.dbsize()).toBe(0)
})

/** Opens the receiving end of a queue, beside the address that probes ask. */
async function openWorker(context: Context): Promise<{ jobs: JobWorker; probe(): Promise<object> }> {
  const workerPort = await freePort()
  const jobs = openJobWorker(context, options, async () => {})
  parts.defer(() => jobs.close())
  const settings = { ...context.config, workerPort }
  parts.use(await startMonitoringServer({ ...context, config: settings }, () => jobs.state()))
  const probe = async () => {
    const response = await fetch(`http://127.0.0.1:${workerPort}/readyz`, {
      signal: AbortSignal.timeout(answerMilliseconds),
    })
    return { code: response.status, ...((await response.json()) as object) }
  }
  return { jobs, probe }
}

test('a worker is not ready until it can open its queue in PostgreSQL, and while that gives it no jobs', async () => {
  const context = open(config)
  await expect.poll(() => readyz(context), patience).toMatchObject({ status: 'ok' })
  link.refuse()
  const { probe } = await openWorker(context)
  expect(await probe()).toEqual({ code: 503, status: 'starting', database: 'ok', queue: 'starting' })
  link.mend()
  const ok = { code: 200, status: 'ok', database: 'ok', queue: 'ok' }
  await expect.poll(probe, patience).toEqual(ok)
  // The connection of the pool is busy, and no other can be opened.
  const held = await context.db.transaction()
  const [{ pid }] = (await held.raw<{ rows: [{ pid: number }] }>('select pg_backend_pid() as pid')).rows
  link.refuse()
  await held.raw(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> ? and query not like '%clock_timestamp() as now%'`,
    [pid],
  )
  await expect.poll(probe, patience).toEqual({ ...ok, code: 503, status: 'unavailable', queue: 'unavailable' })
  expect(context.dependencies.database.isUp()).toBe(true)
  link.mend()
  await expect.poll(probe, patience).toEqual(ok)
  await held.rollback()
})

test('a worker is not ready while Redis refuses its connection for jobs', async () => {
  const server = parts.adopt(await startRedis(), (open) => open.stop())
  const operator = parts.adopt(new Redis(server.url), (redis) => redis.disconnect())
  const context = open({ ...config, redis: { url: server.url, allowSelfSigned: false, prefix: 'readiness' } })
  const { probe } = await openWorker(context)
  const ok = { code: 200, status: 'ok', database: 'ok', redis: 'ok', queue: 'ok' }
  await expect.poll(probe, patience).toEqual(ok)
  const waiting = /^id=(\d+).* cmd=bzpopmin/m
  const waitingId = async () => waiting.exec(String(await operator.call('CLIENT', 'LIST')))?.[1]
  await expect.poll(waitingId, patience).toBeDefined()
  const clients = String(await operator.call('CLIENT', 'LIST'))
    .trim()
    .split('\n').length
  await operator.config('SET', 'maxclients', String(clients - 1))
  await operator.call('CLIENT', 'KILL', 'ID', (await waitingId())!)
  await expect.poll(probe, patience).toMatchObject({ code: 503, status: 'unavailable', redis: 'unavailable' })
  expect(context.dependencies.redis!.isUp()).toBe(true)
  await operator.config('SET', 'maxclients', '1000')
  await expect.poll(probe, patience).toEqual(ok)
})

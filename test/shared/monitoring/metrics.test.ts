import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { readConfig } from '#shared/config/config.ts'
import { openContext, type Context } from '#shared/context.ts'
import { serveMetrics } from '#shared/monitoring/metrics-endpoint.ts'
import { exposeMetrics } from '#shared/monitoring/metrics.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { openLinkTo, type Link } from '../../chaos/network.ts'
import { createDatabase } from '../../support/databases.ts'

const token = 'the-operator-of-the-tests-of-metrics'
/** The time that values of the database may take, on a busy machine. */
const boundMilliseconds = 3000
/** An outage that is known takes no time. */
const knownMilliseconds = 500

let parts: AsyncDisposableStack
let link: Link
let context: Context
beforeEach(async () => {
  parts = new AsyncDisposableStack()
  const database = parts.adopt(await createDatabase(), (open) => open.drop())
  const linked = await openLinkTo(database.url)
  link = parts.use(linked.link)
  const config = readConfig({
    ISOBOT_SECRET: 'a secret of at least thirty-two characters',
    METRICS_TOKEN: token,
    DATABASE_URL: linked.url,
  })
  context = parts.use(openContext(config, createLogger('test', 'silent')))
  exposeMetrics(context)
  await vi.waitUntil(() => context.dependencies.database.check(1000), { timeout: 10_000 })
})
afterEach(() => parts.disposeAsync())

async function read(path: '/metrics' | '/autoscale', milliseconds: number) {
  const begin = performance.now()
  const reply = await serveMetrics(context, path, { headers: { authorization: `Bearer ${token}` } })
  expect(performance.now() - begin).toBeLessThan(milliseconds)
  return reply
}

const ofProcess = ['isobot_dependency_up{dependency="database"}', 'isobot_database_connections{state="used"}']
const ofDatabase = [
  'isobot_events_waiting',
  'isobot_stored_items{kind="files"}',
  'isobot_members_present{status="online"}',
]

/** Names of the given values that a scrape has. */
function valuesIn({ status, body }: { status: number; body: string }, names: string[]): string[] {
  expect(status).toBe(200)
  return names.filter((name) => body.split('\n').some((line) => line.startsWith(`${name} `)))
}

test('metrics whose database falls silent come soon without its values, at once when that is known, and with them on its return', async () => {
  expect(valuesIn(await read('/metrics', boundMilliseconds), [...ofProcess, ...ofDatabase])).toHaveLength(5)
  link.silence()
  const scraped = await read('/metrics', boundMilliseconds)
  expect(valuesIn(scraped, ofProcess)).toEqual(ofProcess)
  expect(valuesIn(scraped, ofDatabase.slice(1))).toEqual([])
  await expect.poll(() => context.dependencies.database.isUp(), { timeout: 10_000 }).toBe(false)
  expect(valuesIn(await read('/metrics', knownMilliseconds), [...ofProcess, ...ofDatabase])).toEqual(ofProcess)
  expect(await read('/autoscale', knownMilliseconds)).toMatchObject({ status: 503 })
  link.mend()
  const all = async () => valuesIn(await read('/metrics', boundMilliseconds), [...ofProcess, ...ofDatabase])
  await expect.poll(all, { timeout: 20_000 }).toHaveLength(5)
})

test('metrics of a process whose connections are busy, or refused, come soon without the values of the database', async () => {
  const { db, dependencies, config } = context
  const held = await Promise.all(Array.from({ length: config.database.poolSize }, () => db.transaction()))
  const busy = await read('/metrics', boundMilliseconds)
  expect(valuesIn(busy, [...ofProcess, ...ofDatabase])).toEqual(ofProcess)
  expect(busy.body).toContain(`isobot_database_connections{state="used"} ${config.database.poolSize}`)
  expect(await read('/autoscale', boundMilliseconds)).toMatchObject({ status: 503 })
  await Promise.all(held.map((transaction) => transaction.rollback()))
  link.refuse()
  dependencies.database.connections.cut()
  expect(valuesIn(await read('/metrics', boundMilliseconds), [...ofProcess, ...ofDatabase])).toEqual(ofProcess)
})

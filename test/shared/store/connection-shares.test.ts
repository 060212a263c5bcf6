import { Client } from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { batched } from '#shared/batch.ts'
import { ApiError } from '#shared/errors.ts'
import { slowly } from '#shared/store/connection-shares.ts'
import { openDatabase, query, transact, type Database } from '#shared/store/database.ts'
import { openMetrics, type Metrics } from '#shared/telemetry/metrics.ts'
import { asTenant, tenantScope } from '#shared/tenant-scope.ts'
import { createDatabase } from '../../support/databases.ts'

/** All tests hold statements back by one lock of their database. */
let parts: AsyncDisposableStack
let db: Database
let holder: Client
let metrics: Metrics
beforeEach(async () => {
  parts = new AsyncDisposableStack()
  const { url } = parts.adopt(await createDatabase(), (database) => database.drop())
  metrics = openMetrics(false)
  const settings = { url, poolSize: 3, allowSelfSigned: false }
  db = parts.adopt(openDatabase(settings, undefined, metrics), (open) => open.destroy())
  holder = parts.adopt(new Client({ connectionString: url }), (client) => client.end())
  await holder.connect()
  await holder.query('select pg_advisory_lock(1)')
})
afterEach(async () => {
  await release()
  await parts.disposeAsync()
})

const release = () => holder.query('select pg_advisory_unlock_all()')

/** A statement that ends after `release`. */
const held = () => query(db, 'select pg_advisory_xact_lock_shared(1)', {})

/** The statements that are in progress. */
async function countHeld(): Promise<number> {
  const { rows } = await holder.query<{ count: string }>(
    `select count(*) from pg_locks join pg_database on pg_database.oid = database
     where datname = current_database() and locktype = 'advisory' and not granted`,
  )
  return Number(rows[0]!.count)
}

const untilHeld = (count: number) => vi.waitFor(async () => expect(await countHeld()).toBe(count), { timeout: 10_000 })

const as = <Result>(tenant: string, work: () => Result) => asTenant({ tenant, isOfCode: false }, work)
const asCode = <Result>(tenant: string, work: () => Result) => asTenant({ tenant, isOfCode: true }, work)
/** The metrics of the waits for shares. */
async function figures(): Promise<string[]> {
  const text = await metrics.registry.metrics()
  return text.split('\n').filter((line) => /^isobot_tenant_(waits|refusals_total.* [1-9])/.test(line))
}
/** The refusal of work; undefined when it is done. */
const refusalOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => ApiError.from(error),
  )
/** A refusal with these words. */
const rateLimited = (words: string) => ({
  type: 'RateLimited',
  status: 429,
  retryAfterSeconds: 1,
  message: expect.stringContaining(words),
})
const slow = () => slowly(db, held)
const times = <Result>(count: number, work: () => Result) => Array.from({ length: count }, work)

test('statements of one bot, however many, leave a connection to the others', async () => {
  const many = times(20, () => as('a', held))
  await untilHeld(2)
  await as('b', () => query(db, 'select 1', {}))
  await as('b', () => transact(db, (transaction) => transaction.raw('select 1')))
  await as('b', () => db.raw('select 1'))
  expect(await countHeld()).toBe(2)
  await release()
  await Promise.all(many)
})

test('work that may take long is done one at a time for each bot, and leaves a connection to all other work', async () => {
  const many = times(10, () => as('a', slow))
  await untilHeld(1)
  many.push(as('b', slow))
  await untilHeld(2)
  many.push(as('c', slow))
  await as('c', () => query(db, 'select 1', {}))
  await query(db, 'select 1', {})
  expect(await countHeld()).toBe(2)
  await release()
  await Promise.all(many)
})

test('work that may take long waits neither for itself nor in a transaction', async () => {
  const first = as('a', () => slowly(db, held))
  await untilHeld(1)
  await as('a', () => transact(db, (transaction) => slowly(transaction, () => transaction.raw('select 1'))))
  await release()
  await first
  expect(await as('a', () => slowly(db, () => slowly(db, async () => 'done')))).toBe('done')
})

test('requests beyond a bound are refused at once, those that wait for long later, and calls of code wait on', async () => {
  const inProgress = times(2, () => as('a', held))
  await untilHeld(2)
  const waiting = times(250, () => refusalOf(as('a', held)))
  expect(await refusalOf(as('a', held))).toMatchObject(
    rateLimited('share of the connections to the database, and too many wait'),
  )
  const ofCode = times(10, () => asCode('a', held))
  expect(await figures()).toEqual([
    'isobot_tenant_waits{for="connection"} 260',
    'isobot_tenant_refusals_total{for="connection",reason="too_many"} 1',
  ])
  for (const refusal of await Promise.all(waiting))
    expect(refusal).toMatchObject(rateLimited('this one has waited for 5 s'))
  expect(await countHeld()).toBe(2)
  await release()
  await Promise.all([...inProgress, ...ofCode])
  expect(await figures()).toEqual([
    'isobot_tenant_waits{for="connection"} 0',
    'isobot_tenant_refusals_total{for="connection",reason="too_many"} 1',
    'isobot_tenant_refusals_total{for="connection",reason="too_long"} 250',
  ])
})

test('a request that has begun is not refused', async () => {
  const [begun, others] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const request = as('a', async () => {
    await query(db, 'select 1', {})
    begun.resolve()
    await others.promise
    return query(db, 'select 2 as answer', {})
  })
  await begun.promise
  const inProgress = times(2, () => as('a', held))
  await untilHeld(2)
  const waiting = times(250, () => refusalOf(as('a', held)))
  others.resolve()
  for (const refusal of await Promise.all(waiting)) expect(refusal).toMatchObject({ type: 'RateLimited' })
  await release()
  expect(await request).toEqual([{ answer: 2 }])
  await Promise.all(inProgress)
})

test('work that may take long is refused beyond a bound', async () => {
  const first = as('a', slow)
  await untilHeld(1)
  const waiting = times(50, () => as('a', slow))
  expect(await refusalOf(as('a', slow))).toMatchObject({
    type: 'RateLimited',
    message: expect.stringContaining('one at a time for each bot, and too many wait already'),
  })
  expect(await figures()).toEqual([
    'isobot_tenant_waits{for="slow_work"} 50',
    'isobot_tenant_refusals_total{for="slow_work",reason="too_many"} 1',
  ])
  await release()
  await Promise.all([first, ...waiting])
})

test('work for a caller that has gone leaves the queue', async () => {
  const first = asCode('a', () => slowly(db, held))
  await untilHeld(1)
  const gone = new AbortController()
  const work = vi.fn<typeof held>(held)
  const waiting = asCode('a', () => slowly(db, work, () => gone.signal))
  gone.abort()
  expect(await refusalOf(waiting)).toMatchObject({ type: 'RateLimited' })
  expect(await figures()).toEqual(['isobot_tenant_waits{for="slow_work"} 0'])
  await release()
  await first
  expect(work).not.toHaveBeenCalled()
})

test('a connection that cannot be opened is no part of a share', async () => {
  const unreachable = openDatabase({ url: 'postgres://127.0.0.1:1/none', poolSize: 3, allowSelfSigned: false })
  parts.defer(() => unreachable.destroy())
  for (let attempt = 0; attempt < 4; attempt++)
    await expect(as('a', () => query(unreachable, 'select 1', {}))).rejects.toThrow('ECONNREFUSED')
})

test('a batch, which has the calls of several bots, has the share of none', async () => {
  const scopes: unknown[] = []
  const call = batched(async (inputs: number[]) => {
    scopes.push(tenantScope())
    return inputs
  }, 10)
  await as('a', () => Promise.all([call(1), call(2), call(3)]))
  expect(scopes).toEqual([undefined, undefined])
})

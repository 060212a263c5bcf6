import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { newId } from '#shared/ids.ts'
import { overdueMailboxes } from '#shared/store/mailboxes.ts'
import { freePort } from '../../../cli/postgres/free-port.ts'
import { openLink, type Link } from '../../chaos/network.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { Processes } from '../../support/processes.ts'

const metricsToken = 'the-operator-of-the-tests-of-the-sweep'

const parts = new AsyncDisposableStack()
const processes = new Processes()
let platform: Platform
let database: Link
beforeAll(async () => {
  platform = parts.use(await openPlatform({ backEnd: 'postgres', worker: false }))
  const url = new URL(platform.environment['DATABASE_URL']!)
  database = parts.use(await openLink(() => Number(url.port)))
  parts.defer(() => processes.stop())
})
afterAll(() => parts.disposeAsync())

/** Stores waiting events of a bot, each in a mailbox of its own, without a wake-up. */
async function storeSilently(botId: string, count: number, age: string): Promise<void> {
  await platform.context.db.raw(
    `insert into events (id, bot_id, mailbox, type, payload, created_at, available_at)
     select id, :botId, id, 'later', '{}', now() - :age::interval, now() - :age::interval
     from (select :prefix || n as id from generate_series(1, :count::integer) n) as given`,
    { botId, count, age, prefix: newId('evt') },
  )
}

const waiting = (botId: string) => platform.context.db('events').where({ bot_id: botId, status: 'pending' })

test('the longest waiting mailboxes of each bot come first, and those of a busy bot hide no others', async () => {
  const [busy, quiet] = [await platform.createBot(), await platform.createBot()]
  await storeSilently(busy.id, 5, '2 hours')
  await storeSilently(quiet.id, 2, '1 hour')
  const options = { waitedMilliseconds: 1000, runMilliseconds: 1000, limit: 4 }
  const found = await overdueMailboxes(platform.context.db, options)
  expect(found.map(({ bot_id: botId }) => botId)).toEqual([busy.id, quiet.id, busy.id, quiet.id])
})

test('more mailboxes than one search finds are all woken once the database is back', async () => {
  const bot = await platform.createBot()
  const url = new URL(platform.environment['DATABASE_URL']!)
  url.port = String(database.port)
  // The return is the only cause of a search.
  const port = String(await freePort())
  const observed = { METRICS_PORT: port, METRICS_TOKEN: metricsToken }
  await processes.start(platform, 'worker', { DATABASE_URL: url.href, WORKER_SWEEP_SECONDS: '600', ...observed })
  const headers = { authorization: `Bearer ${metricsToken}` }
  const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).text()
  await vi.waitFor(async () => {
    const { body } = await platform.ask('GET', '/v1/admin/queue')
    expect(body.queue.platform.workers).toHaveLength(1)
  }, 40_000)
  await storeSilently(bot.id, 1500, '1 hour')
  database.cut()
  await vi.waitFor(
    async () => expect(await metrics()).toContain('isobot_dependency_up{dependency="database"} 0'),
    20_000,
  )
  database.mend()
  await vi.waitFor(async () => expect(await waiting(bot.id)).toHaveLength(0), { timeout: 60_000, interval: 200 })
}, 120_000)

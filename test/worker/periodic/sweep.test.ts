import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { newId } from '#shared/ids.ts'
import { overdueMailboxes } from '#shared/store/mailboxes.ts'
import { freePort } from '../../../cli/postgres/free-port.ts'
import { startWorker } from '../../../worker/worker.ts'
import { openLink, type Link } from '../../chaos/network.ts'
import { createChatUser } from '../../support/chat-client.ts'
import { replies } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { Processes } from '../../support/processes.ts'

const metricsToken = 'the-operator-of-the-tests-of-the-sweep'

const echo = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: event.preview } })
    },
  }`

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

test.each([
  ['the lists of waiting jobs', ['wait', 'prioritized']],
  ['the jobs themselves', '*[0-9]'],
])(
  'a conversation goes on after Redis has lost %s, but not the keys of their deduplication',
  async (_what, lost) => {
    await using shared = await openPlatform({
      backEnd: 'redis',
      worker: false,
      environment: { WORKER_SWEEP_SECONDS: '1' },
    })
    const first = await startWorker(shared.context)
    const bot = await shared.createBot(echo)
    await first[Symbol.asyncDispose]()
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    await chatUser.send(conversationId, 'before')
    using redis = openRedis(shared)
    const jobs = typeof lost === 'string' ? await redis.client.keys(`${redis.prefix}:events:${lost}`) : []
    const keys = typeof lost === 'string' ? jobs : lost.map((list) => `${redis.prefix}:events:${list}`)
    expect(await redis.client.del(keys)).toBeGreaterThan(0)
    await using parts = new AsyncDisposableStack()
    parts.use(await startWorker(shared.context))
    await expect.poll(() => replies(shared, conversationId), { timeout: 30_000 }).toEqual(['before'])
    await chatUser.send(conversationId, 'after')
    await expect.poll(() => replies(shared, conversationId), { timeout: 30_000 }).toEqual(['before', 'after'])
  },
  90_000,
)

/** A client of the Redis of a platform. */
function openRedis({ environment }: Platform) {
  const client = new Redis(environment['REDIS_URL']!)
  return { client, prefix: environment['REDIS_PREFIX']!, [Symbol.dispose]: () => client.disconnect() }
}

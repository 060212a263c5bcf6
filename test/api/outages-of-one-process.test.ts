import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '../../cli/postgres/free-port.ts'
import { openLinkTo, type Link } from '../chaos/network.ts'
import { createChatUser, type ChatUser } from '../support/chat-client.ts'
import { listen } from '../support/event-stream.ts'
import { replies } from '../support/outcomes.ts'
import { openPlatform, send, type BackEnd, type DeployedBot, type Platform } from '../support/platform.ts'
import { startProcess } from '../support/processes.ts'

/** Says two things, with a pause between them. */
const bot = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const say = (text) => client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
      await say('first')
      await new Promise((resolve) => setTimeout(resolve, 1500))
      await say('second')
    },
  }`

/** Streams are compared with the logs every 20 s, which must not be the cause of their entries. */
const announcedMilliseconds = 6000

/** Opens a platform whose api, or worker, runs in this process; the other one runs in a process of its own. */
async function openFixture(parts: AsyncDisposableStack, backEnd: BackEnd, other: 'api' | 'worker') {
  // The sweep must not be what handles the messages.
  const environment = { WORKER_SWEEP_SECONDS: '600' }
  const platform = parts.use(await openPlatform({ backEnd, worker: other === 'api', environment }))
  const { REDIS_URL } = platform.environment
  const redis = REDIS_URL === undefined ? undefined : await openLinkTo(REDIS_URL)
  if (redis) parts.use(redis.link)
  const port = String(await freePort())
  const settings = { PORT: port, LOG_LEVEL: 'fatal', ...(redis && { REDIS_URL: redis.url }) }
  const child = await startProcess(platform, other, settings)
  parts.defer(async () => void (await child.stop()))
  const deployed = await platform.createBot(bot)
  return {
    platform,
    redis: redis?.link,
    url: `http://127.0.0.1:${port}`,
    deployed,
    user: await createChatUser(deployed.chatUrl),
  }
}

describe.each(['redis', 'postgres'] as const)('on %s, an api', (backEnd) => {
  const parts = new AsyncDisposableStack()
  let platform: Platform
  let redis: Link | undefined
  let url: string
  let deployed: DeployedBot
  let user: ChatUser
  let conversationId: string

  beforeAll(async () => {
    ;({ platform, redis, url, deployed, user } = await openFixture(parts, backEnd, 'api'))
    await vi.waitUntil(async () => (await readiness()) === 200, { timeout: 50_000 })
    conversationId = await user.createConversation()
  }, 90_000)
  afterAll(() => parts.disposeAsync())

  const readiness = () =>
    fetch(`${url}/readyz`).then(
      ({ status }) => status,
      () => 0,
    )

  const say = (text: string) =>
    send(
      'POST',
      `${url}/chat/${deployed.webhookId}/messages`,
      { conversationId, payload: { type: 'text', text } },
      { 'x-user-key': user.key },
    )

  test.runIf(backEnd === 'redis')(
    'whose Redis is away while the worker’s is not has messages of that time handled as soon as it is back',
    async () => {
      redis!.cut()
      await expect.poll(readiness, { timeout: 10_000 }).toBe(503)
      expect(await say('hello')).toMatchObject({ status: 201 })
      redis!.mend()
      await expect
        .poll(() => replies(platform, conversationId), { timeout: 15_000, interval: 50 })
        .toEqual(['first', 'second'])
    },
    60_000,
  )

  test.runIf(backEnd === 'postgres')(
    'whose connection to the queue ends while it adds a job has the message handled soon',
    async () => {
      const { db } = platform.context
      const waiting = () =>
        db('pg_stat_activity').where({ wait_event_type: 'Lock' }).whereRaw('datname = current_database()')
      await db.transaction(async (transaction) => {
        await transaction.raw('lock table bullmq.job in access exclusive mode')
        const said = say('hello')
        await expect.poll(() => waiting().whereLike('query', '%add%')).toHaveLength(1)
        await waiting().select(db.raw('pg_terminate_backend(pid)'))
        expect(await said).toMatchObject({ status: 201 })
      })
      await expect
        .poll(() => replies(platform, conversationId), { timeout: 15_000, interval: 50 })
        .toEqual(['first', 'second'])
    },
    60_000,
  )
})

test('a listener receives what a worker says while the worker’s Redis is away, and its api’s is not, soon after its return', async () => {
  await using parts = new AsyncDisposableStack()
  const { platform, redis, deployed, user } = await openFixture(parts, 'redis', 'worker')
  const conversationId = await user.createConversation()
  const stream = await listen(deployed.chatUrl, user.key, conversationId)
  parts.defer(() => stream.close())
  const heard = () => stream.frames().map(({ data }) => data.payload.text)
  expect(await user.send(conversationId, 'hello')).toMatchObject({ status: 201 })
  await expect.poll(heard, { timeout: 50_000, interval: 20 }).toEqual(['hello', 'first'])
  redis!.cut()
  await expect.poll(() => replies(platform, conversationId), { timeout: 10_000 }).toEqual(['first', 'second'])
  expect(heard()).toEqual(['hello', 'first'])
  redis!.mend()
  await expect.poll(heard, { timeout: announcedMilliseconds }).toEqual(['hello', 'first', 'second'])
}, 90_000)

import { afterEach, describe, expect, test, vi } from 'vitest'
import { startWorker } from '../../../worker/worker.ts'
import { createChatUser, type ChatUser } from '../../support/chat-client.ts'
import { endedEvents, replies } from '../../support/outcomes.ts'
import { backEnds, openPlatform, type BackEnd, type DeployedBot, type Platform } from '../../support/platform.ts'
import { startTarget } from '../outbound/fixture.ts'

/** Tests of one back end run one after the other. */
const alone = { concurrent: false, timeout: 60_000 }

const patience = { timeout: 10_000, interval: 10 }

function open(backEnd: BackEnd, concurrency: number): Promise<Platform> {
  // Without the sweep, nothing makes up for a job that is lost.
  const environment = {
    WORKER_CONCURRENCY: String(concurrency),
    WORKER_SWEEP_SECONDS: '3600',
    OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
  }
  return openPlatform({ backEnd, worker: false, environment })
}

const permissions = { net: ['127.0.0.1'] }

/** Creates bots, which may send requests to this machine, and leaves no worker behind. */
async function createBots(platform: Platform, ...codes: string[]): Promise<DeployedBot[]> {
  await using worker = new AsyncDisposableStack()
  worker.use(await startWorker(platform.context))
  return await Promise.all(codes.map((code) => platform.createBot(code, { permissions })))
}

/** A bot that answers after a while. */
const slow = (milliseconds: number) => answeringAfter(`new Promise((resolve) => setTimeout(resolve, ${milliseconds}))`)

/** A bot that answers when this promise is resolved. */
const answeringAfter = (promise: string) => `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      await ${promise}
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: 're: ' + event.preview } })
    },
  }`

/** Opens so many conversations with a bot. */
async function converse(bot: DeployedBot, count: number): Promise<{ chatUser: ChatUser; conversationIds: string[] }> {
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationIds = await inTurns(Array.from({ length: count }), () => chatUser.createConversation())
  return { chatUser, conversationIds }
}

/** Does something with each of many, some at once. */
async function inTurns<Item, Result>(items: Item[], act: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  const left = items.entries()
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      for (const [index, item] of left) results[index] = await act(item)
    }),
  )
  return results
}

/** Says something to a bot, and waits for the answer. */
async function talk(platform: Platform, bot: DeployedBot, text: string): Promise<void> {
  const { chatUser, conversationIds } = await converse(bot, 1)
  await chatUser.send(conversationIds[0]!, text)
  await answered(platform, conversationIds[0]!, text)
}

async function answered(platform: Platform, conversationId: string, text: string): Promise<void> {
  await vi.waitFor(async () => expect(await replies(platform, conversationId)).toContainEqual(`re: ${text}`), {
    timeout: 60_000,
    interval: 10,
  })
}

async function countEnded(platform: Platform, bot: DeployedBot): Promise<number> {
  const [row] = await platform.context.db('events').where({ bot_id: bot.id }).whereNotNull('ended_at').count()
  return Number(row!['count'])
}

async function countRunning(platform: Platform, bot: DeployedBot): Promise<number> {
  const running = platform.context.db('events').where({ bot_id: bot.id, ended_at: null }).whereNotNull('started_at')
  const [row] = await running.count()
  return Number(row!['count'])
}

// Most of the time is spent in waiting for slow bots, so both back ends are tried at the same time.
describe.concurrent.each(backEnds)('on %s', (backEnd) => {
  let parts = new AsyncDisposableStack()
  afterEach(async () => {
    await parts.disposeAsync()
    parts = new AsyncDisposableStack()
  })

  test('a message to a bot that has little to do overtakes those that flood another bot', alone, async () => {
    const platform = parts.use(await open(backEnd, 2))
    const [busy, quiet] = (await createBots(platform, slow(20), slow(0))) as [DeployedBot, DeployedBot]
    const flood = await converse(busy, 200)
    await inTurns(flood.conversationIds, (id) => flood.chatUser.send(id, 'flood'))
    const { chatUser, conversationIds } = await converse(quiet, 1)
    await chatUser.send(conversationIds[0]!, 'hello')

    parts.use(await startWorker(platform.context))
    await answered(platform, conversationIds[0]!, 'hello')
    expect(await countEnded(platform, busy)).toBeLessThan(60)
  })

  test(
    'a bot whose hooks take long has half of the slots; the other half is for others, and nothing of it is lost',
    alone,
    async () => {
      const platform = parts.use(await open(backEnd, 4))
      const release = Promise.withResolvers<void>()
      const server = parts.use(await startTarget((_, response) => void release.promise.then(() => response.end())))
      const [hanging, quiet] = (await createBots(platform, answeringAfter(`fetch('${server.url}')`), slow(0))) as [
        DeployedBot,
        DeployedBot,
      ]
      const { chatUser, conversationIds } = await converse(hanging, 6)
      await inTurns(conversationIds, async (id) => {
        await chatUser.send(id, 'one')
        await chatUser.send(id, 'two')
      })

      parts.use(await startWorker(platform.context))
      await vi.waitUntil(async () => (await countRunning(platform, hanging)) > 0, patience)
      for (const text of ['a', 'b', 'c']) {
        await talk(platform, quiet, text)
        expect(await countRunning(platform, hanging)).toBeLessThanOrEqual(2)
      }
      expect(await countEnded(platform, hanging)).toBe(0)

      release.resolve()
      await endedEvents(platform, hanging.id, 12)
      for (const id of conversationIds) expect(await replies(platform, id)).toEqual(['re: one', 're: two'])
    },
  )

  test('a bot that is alone and whose quick hooks begin to hang leaves a slot for the next bot', alone, async () => {
    const platform = parts.use(await open(backEnd, 10))
    const release = Promise.withResolvers<void>()
    let requests = 0
    const server = parts.use(
      await startTarget((_, response) => {
        requests += 1
        void release.promise.then(() => response.end())
      }),
    )
    const [busy, quiet] = (await createBots(
      platform,
      answeringAfter(`(event.preview === 'hang' && fetch('${server.url}'))`),
      slow(0),
    )) as [DeployedBot, DeployedBot]
    const { chatUser, conversationIds } = await converse(busy, 100)
    const hanging = conversationIds.slice(-20)
    const other = await converse(quiet, 1)
    await inTurns(conversationIds, (id) => chatUser.send(id, hanging.includes(id) ? 'hang' : 'quick'))

    parts.use(await startWorker(platform.context))
    await vi.waitUntil(() => requests >= 9, patience)
    await other.chatUser.send(other.conversationIds[0]!, 'hello')
    await answered(platform, other.conversationIds[0]!, 'hello')
    expect(await countRunning(platform, busy)).toBeGreaterThanOrEqual(9)

    release.resolve()
    await endedEvents(platform, busy.id, 100)
  })

  test(
    'a conversation with a long row of messages gives its slot to others before the row is through',
    alone,
    async () => {
      const platform = parts.use(await open(backEnd, 1))
      const [talkative, quiet] = (await createBots(platform, slow(150), slow(0))) as [DeployedBot, DeployedBot]
      const { chatUser, conversationIds } = await converse(talkative, 1)
      for (let count = 0; count < 16; count++) await chatUser.send(conversationIds[0]!, String(count))
      const other = await converse(quiet, 1)

      parts.use(await startWorker(platform.context))
      await vi.waitUntil(async () => (await countEnded(platform, talkative)) > 0, patience)
      await other.chatUser.send(other.conversationIds[0]!, 'hello')
      await answered(platform, other.conversationIds[0]!, 'hello')
      expect(await countEnded(platform, talkative)).toBeLessThan(14)

      await endedEvents(platform, talkative.id, 16)
      const expected = Array.from({ length: 16 }, (_, count) => `re: ${count}`)
      expect(await replies(platform, conversationIds[0]!)).toEqual(expected)
    },
  )
})

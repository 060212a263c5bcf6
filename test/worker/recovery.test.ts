import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createChatUser } from '../support/chat-client.ts'
import { endedEvents, replies } from '../support/outcomes.ts'
import { backEnds, openPlatform, type Platform } from '../support/platform.ts'
import { Processes } from '../support/processes.ts'
import { sandboxesOf } from '../support/sandbox-processes.ts'

/** Answers in two parts, and takes its time between them. */
const slowBot = (milliseconds: number) => `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const say = (text) => client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
      await say('first')
      await new Promise((resolve) => setTimeout(resolve, ${milliseconds}))
      await say('second')
    },
  }`

/** Holds its job for long, and keeps the processors busy all the while. */
const busyBot = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const until = Date.now() + (event.preview === 'long' ? 9000 : 0)
      do {
        for (const end = performance.now() + 4; performance.now() < end;);
        await new Promise((resolve) => setTimeout(resolve, 300))
      } while (Date.now() < until)
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: 'done' } })
    },
  }`

const patience = { timeout: 30_000, interval: 20 }

/** Has somebody say something in so many conversations, and waits until the bot is in the middle of all answers. */
async function startTalks(platform: Platform, code: string, count: number) {
  const bot = await platform.createBot(code)
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationIds = await Promise.all(Array.from({ length: count }, () => chatUser.createConversation()))
  await Promise.all(conversationIds.map((conversationId) => chatUser.send(conversationId, 'hello')))
  const said = () => platform.context.db('messages').where({ bot_id: bot.id, direction: 'outgoing' })
  await vi.waitFor(async () => expect((await said()).length).toBe(count), patience)
  return { bot, conversationIds }
}

/** By the database's clock, when the last of a bot's events was taken up again after `since`. */
async function takenUpWithin({ context }: Platform, botId: string, since: number, count: number): Promise<number> {
  const again = () => context.db('events').where({ bot_id: botId, attempt: 2 })
  await vi.waitFor(async () => expect((await again()).length).toBe(count), patience)
  return Math.max(...(await again()).map(({ started_at: startedAt }) => startedAt!.getTime() - since))
}

describe.concurrent.each(backEnds)('on %s', (backEnd) => {
  const processes = new Processes()
  const startWorker = (environment?: NodeJS.ProcessEnv) => processes.start(platform, 'worker', environment)
  let platform: Platform
  beforeAll(async () => {
    platform = await openPlatform({ backEnd, worker: false })
  })
  afterEach(() => processes.stop())
  afterAll(() => platform[Symbol.asyncDispose]())

  test(
    'the conversations of a killed worker go on at another one within 10 seconds',
    { concurrent: false, timeout: 60_000 },
    async () => {
      const victim = await startWorker()
      const { bot, conversationIds } = await startTalks(platform, slowBot(1500), 10)
      await startWorker()
      process.kill(victim.pid, 'SIGKILL')
      // The intervals that add up to ten seconds are those of `test/shared/config/config.test.ts`; the rest is for a busy machine.
      expect(await takenUpWithin(platform, bot.id, Date.now(), conversationIds.length)).toBeLessThan(15_000)
      await endedEvents(platform, bot.id, conversationIds.length)
      for (const conversationId of conversationIds) {
        expect(await replies(platform, conversationId)).toEqual(['first', 'second'])
      }
    },
  )

  test(
    'the conversations of a killed sandbox process go on at once',
    { concurrent: false, timeout: 60_000 },
    async () => {
      const worker = await startWorker()
      const { bot, conversationIds } = await startTalks(platform, slowBot(1500), 10)
      for (const sandbox of sandboxesOf(worker.pid)) process.kill(sandbox, 'SIGKILL')
      // Within a second where processors are free. All else that would find them takes ten seconds or more.
      expect(await takenUpWithin(platform, bot.id, Date.now(), conversationIds.length)).toBeLessThan(5000)
      await endedEvents(platform, bot.id, conversationIds.length)
      for (const conversationId of conversationIds) {
        expect(await replies(platform, conversationId)).toEqual(['first', 'second'])
      }
    },
  )

  test(
    'a worker with as much to do as it can never loses a job to another one',
    { concurrent: false, timeout: 180_000 },
    async () => {
      // The second worker has no slot to spare either, and looks for jobs whose worker is gone all the while.
      await Promise.all([startWorker({ WORKER_CONCURRENCY: '60' }), startWorker({ WORKER_CONCURRENCY: '60' })])
      const bot = await platform.createBot(busyBot)
      const chatUser = await createChatUser(bot.chatUrl)
      const conversationIds = await Promise.all(Array.from({ length: 150 }, () => chatUser.createConversation()))
      await Promise.all(
        conversationIds.map(async (conversationId, index) => {
          await chatUser.send(conversationId, index < 60 ? 'long' : 'short')
          for (let count = 0; count < 4; count++) await chatUser.send(conversationId, 'short')
        }),
      )
      // Code of bots has a lower priority than the tests beside it, and waits for the processors while they work.
      const events = await endedEvents(platform, bot.id, 5 * conversationIds.length, 150_000)
      expect(new Set(events.map(({ status }) => status))).toEqual(new Set(['processed']))
      expect(new Set(events.map(({ attempt }) => attempt))).toEqual(new Set([1]))
    },
  )
})

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Child } from '../../cli/start/children.ts'
import { createChatUser } from '../support/chat-client.ts'
import { administer } from '../support/databases.ts'
import { endedEvents, replies } from '../support/outcomes.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { Processes } from '../support/processes.ts'

const hour = 3_600_000
/** Answers in two parts; between them, the locks of jobs expire three times without renewal. */
const slowBot = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const say = (text) => client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
      await say('first')
      await new Promise((resolve) => setTimeout(resolve, 6000))
      await say('second')
    },
  }`
const lock = { WORKER_LOCK_SECONDS: '2', WORKER_STALLED_SECONDS: '1' }
const patience = { timeout: 40_000, interval: 50 }

/** The environment of a process whose clock is ahead by so much. */
function withClock(milliseconds: number): NodeJS.ProcessEnv {
  const program = `const { Date: Real } = globalThis
    globalThis.Date = class Date extends Real {
      constructor(...given) { super(...(given.length === 0 ? [Real.now() + ${milliseconds}] : given)) }
      static now() { return Real.now() + ${milliseconds} }
    }`
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` }
}

// Redis judges locks by its own clock.
describe('without Redis', () => {
  const processes = new Processes()
  let platform: Platform
  beforeEach(async () => {
    platform = await openPlatform({ backEnd: 'postgres', worker: false, environment: lock })
  })
  afterEach(async () => {
    await processes.stop()
    await platform[Symbol.asyncDispose]()
  })

  /** @param count of the workers that are there then */
  async function startWorker(count: number, environment?: NodeJS.ProcessEnv): Promise<Child> {
    const worker = await processes.start(platform, 'worker', environment)
    await vi.waitFor(async () => {
      const { body } = await platform.ask('GET', '/v1/admin/queue')
      expect(body.queue.platform.workers).toHaveLength(count)
    }, patience)
    return worker
  }

  /** The entry of a killed worker expires later than another one is there. */
  const startOther = () => processes.start(platform, 'worker')

  /** A conversation in which the bot is in the middle of its answer. */
  async function startTalk() {
    const { id: botId, chatUrl } = await platform.createBot(slowBot)
    const chatUser = await createChatUser(chatUrl)
    const conversationId = await chatUser.createConversation()
    await chatUser.send(conversationId, 'hello')
    await vi.waitFor(async () => expect(await replies(platform, conversationId)).toEqual(['first']), patience)
    return { botId, conversationId }
  }

  test.for([-hour, hour])(
    'a worker whose clock differs by %i milliseconds keeps its jobs, and takes none over from others',
    { timeout: 90_000 },
    async (milliseconds) => {
      await startWorker(1)
      const ofFirst = await startTalk()
      await startWorker(2, withClock(milliseconds))
      await endedEvents(platform, ofFirst.botId, 1)
      const ofBoth = await Promise.all([startTalk(), startTalk(), startTalk()])
      for (const { botId, conversationId } of [ofFirst, ...ofBoth]) {
        expect(await endedEvents(platform, botId, 1)).toMatchObject([{ attempt: 1, status: 'processed' }])
        expect(await replies(platform, conversationId)).toEqual(['first', 'second'])
      }
    },
  )

  test(
    'the conversations of a killed worker whose clock was ahead go on at another one',
    { timeout: 60_000 },
    async () => {
      const victim = await startWorker(1, withClock(hour))
      const { botId, conversationId } = await startTalk()
      victim.kill()
      await startOther()
      expect(await endedEvents(platform, botId, 1)).toMatchObject([{ attempt: 2, status: 'processed' }])
      expect(await replies(platform, conversationId)).toEqual(['first', 'second'])
    },
  )

  test(
    'the conversations of a killed worker go on at another one although the clock of PostgreSQL was set back',
    { timeout: 60_000 },
    async () => {
      const victim = await startWorker(1)
      const { botId, conversationId } = await startTalk()
      victim.kill()
      const url = platform.environment['DATABASE_URL']!
      await administer(url, `update bullmq.job set locked_until_ms = locked_until_ms + ${hour}`)
      await administer(
        url,
        `update bullmq.meta set value = (value::bigint + ${hour})::text where field = 'stalled-check'`,
      )
      await startOther()
      expect(await endedEvents(platform, botId, 1)).toMatchObject([{ attempt: 2, status: 'processed' }])
      expect(await replies(platform, conversationId)).toEqual(['first', 'second'])
    },
  )
})

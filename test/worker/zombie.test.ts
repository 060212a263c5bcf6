import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Child } from '../../cli/start/children.ts'
import { createChatUser } from '../support/chat-client.ts'
import { expireLocks } from '../support/job-locks.ts'
import { endedEvents, replies } from '../support/outcomes.ts'
import { backEnds, openPlatform, type Platform } from '../support/platform.ts'
import { Processes } from '../support/processes.ts'

const zombie = 'the zombie'
const successor = 'the one that took over'

/**
 * Says who it is in all that it leaves behind: a reply, a line of the log, the state. The first reply tells a run
 * whether it is the first one, for a repeated run finds it older than itself. In the conversation `slow` the run that
 * takes over is under way for longer than the first one.
 *
 * @param first what a first run takes, in milliseconds: long enough for others to take over before it ends, on a busy machine
 * @param repeated what the one takes that takes over in `slow`
 */
const bot = (first: number, repeated = first) => `
  export const hooks = {
    async afterIncomingMessage({ event, client, state, logger }) {
      const say = (text) => client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
      const startedAt = Date.now()
      const { message } = await say('begun')
      const isRepeated = Date.parse(message.createdAt) < startedAt
      const who = isRepeated ? '${successor}' : '${zombie}'
      const repeated = event.preview === 'slow' ? ${repeated} : 0
      await new Promise((resolve) => setTimeout(resolve, isRepeated ? repeated : ${first}))
      logger.info(who)
      if (event.preview !== 'silent') await say(who)
      state.conversation.who = who
      state.user[event.preview] = who
    },
  }`

const lock = { WORKER_LOCK_SECONDS: '2', WORKER_STALLED_SECONDS: '1' }
const patience = { timeout: 40_000, interval: 100 }

/** Conversations in which the bot is in the middle of its first run. */
async function startTalks(platform: Platform, chatUrl: string) {
  const chatUser = await createChatUser(chatUrl)
  const talks = {
    quick: await chatUser.createConversation(),
    slow: await chatUser.createConversation(),
    silent: await chatUser.createConversation(),
  }
  for (const [text, conversationId] of Object.entries(talks)) await chatUser.send(conversationId, text)
  for (const conversationId of Object.values(talks)) {
    await vi.waitFor(async () => expect(await replies(platform, conversationId)).toEqual(['begun']), patience)
  }
  return talks
}

type Talks = Awaited<ReturnType<typeof startTalks>>

async function eventOf({ context }: Platform, conversationId: string) {
  return context.db('events').where({ conversation_id: conversationId }).first()
}

// On a busy machine the one that took over may lose its hold of two seconds too, and begin again.
const byAnother = expect.toSatisfy((attempt: number) => attempt >= 2)

/** Until one event has ended, and the other is in the hands of another run: the zombie wants to end both. */
async function untilTakenOver(platform: Platform, { quick, slow, silent }: Talks): Promise<void> {
  await vi.waitFor(async () => expect(await eventOf(platform, silent)).toMatchObject({ attempt: byAnother }), patience)
  await vi.waitFor(
    async () => expect(await eventOf(platform, quick)).toMatchObject({ attempt: byAnother, status: 'processed' }),
    patience,
  )
  await vi.waitFor(
    async () => expect(await eventOf(platform, slow)).toMatchObject({ attempt: byAnother, status: 'pending' }),
    patience,
  )
}

async function untilPresent(platform: Platform, count: number): Promise<void> {
  await vi.waitFor(async () => {
    const { body } = await platform.ask('GET', '/v1/admin/queue')
    expect(body.queue.platform.workers).toHaveLength(count)
  }, patience)
}

/** All that is left behind is of the run that took over. */
async function expectNoTrace(platform: Platform, botId: string, talks: Talks): Promise<void> {
  const { db } = platform.context
  const events = await endedEvents(platform, botId, 3)
  const ended = { attempt: byAnother, status: 'processed' }
  expect(events).toMatchObject([ended, ended, ended])
  expect(await replies(platform, talks.quick)).toEqual(['begun', successor])
  expect(await replies(platform, talks.slow)).toEqual(['begun', successor])
  expect(await replies(platform, talks.silent)).toEqual(['begun'])
  const lines = await db('logs').where({ bot_id: botId }).pluck('message')
  expect(lines).toEqual([successor, successor, successor])
  const states = await db('states').where({ bot_id: botId }).orderBy('type').pluck('payload')
  const ofUser = { quick: successor, slow: successor, silent: successor }
  expect(states).toEqual([{ who: successor }, { who: successor }, { who: successor }, ofUser])
}

// Nearly all of the time is spent in waiting for runs and locks, so both wait at the same time.
describe.concurrent.each(backEnds)('on %s', (backEnd) => {
  const processes = new Processes()
  const startWorker = () => processes.start(platform, 'worker')
  let platform: Platform
  let paused: Child | undefined
  const resume = () => {
    if (paused) process.kill(paused.pid, 'SIGCONT')
    paused = undefined
  }
  beforeEach(async () => {
    platform = await openPlatform({ backEnd, worker: false, environment: lock })
  })
  afterEach(async () => {
    resume()
    await processes.stop()
    await platform[Symbol.asyncDispose]()
  })

  test(
    'a worker that was paused until another one had taken its jobs over changes nothing when it goes on',
    { concurrent: false, timeout: 90_000 },
    async () => {
      const worker = await startWorker()
      const { id: botId, chatUrl } = await platform.createBot(bot(10_000, 6000))
      const talks = await startTalks(platform, chatUrl)
      paused = worker
      process.kill(worker.pid, 'SIGSTOP')
      await startWorker()
      await untilTakenOver(platform, talks)
      resume()
      // It lets its runs end.
      expect(await worker.stop()).toEqual({ code: 0, signal: null })
      await expectNoTrace(platform, botId, talks)
    },
  )

  test(
    'a worker that has lost its jobs to another one, and does not know it, changes nothing',
    { concurrent: false, timeout: 90_000 },
    async () => {
      // Both are there before anything is lost: a run that ends before it is taken over is no zombie's.
      const workers = [await startWorker(), await startWorker()]
      await untilPresent(platform, workers.length)
      const { id: botId, chatUrl } = await platform.createBot(bot(12_000))
      const talks = await startTalks(platform, chatUrl)
      await expireLocks(platform)
      await untilTakenOver(platform, talks)
      const exits = await Promise.all(workers.map((worker) => worker.stop()))
      expect(exits).toEqual(workers.map(() => ({ code: 0, signal: null })))
      await expectNoTrace(platform, botId, talks)
    },
  )

  test(
    'a run whose claim a crash of the database has taken back is not mixed up with the one that follows',
    { concurrent: false, timeout: 90_000 },
    async () => {
      const { db } = platform.context
      const worker = await startWorker()
      const { id: botId, chatUrl } = await platform.createBot(bot(8000))
      await startTalks(platform, chatUrl)
      await db('events').where({ bot_id: botId }).update({ attempt: 0 })
      await expireLocks(platform)
      const events = await endedEvents(platform, botId, 3)
      expect(events.map(({ attempt, status }) => [attempt, status])).toEqual(
        [1, 1, 1].map((each) => [each, 'processed']),
      )
      // Both runs come to an end.
      expect(await worker.stop()).toEqual({ code: 0, signal: null })
      expect(await db('logs').where({ bot_id: botId })).toHaveLength(3)
    },
  )
})

import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '../../cli/postgres/free-port.ts'
import { createChatUser } from '../support/chat-client.ts'
import { listen } from '../support/event-stream.ts'
import { endedEvents, replies } from '../support/outcomes.ts'
import { backEnds, openPlatform, send, type Platform } from '../support/platform.ts'
import { Processes } from '../support/processes.ts'
import { startRedis } from '../support/redis.ts'

/** Says when the first reply is out, then takes its time before the second; no two runs word them alike. */
const slowBot = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const say = (text) => client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
      await say('first ' + Math.random())
      await new Promise((resolve) => setTimeout(resolve, 2000))
      await say('second')
    },
  }`

/** Until the bot has said its first words. */
async function untilReplied(platform: Platform, conversationId: string): Promise<void> {
  const patience = { timeout: 30_000, interval: 20 }
  await vi.waitFor(async () => expect(await replies(platform, conversationId)).toHaveLength(1), patience)
}

describe.concurrent.each(backEnds)('on %s', (backEnd) => {
  const processes = new Processes()
  let platform: Platform
  beforeAll(async () => {
    platform = await openPlatform({ backEnd, worker: false })
  })
  afterEach(() => processes.stop())
  afterAll(() => platform[Symbol.asyncDispose]())

  test(
    'a worker killed in the middle of a hook: another one runs the event again, and no reply is sent twice',
    { concurrent: false, timeout: 90_000 },
    async () => {
      const victim = await processes.start(platform, 'worker')
      const bot = await platform.createBot(slowBot)
      const chatUser = await createChatUser(bot.chatUrl)
      const conversationId = await chatUser.createConversation()
      await chatUser.send(conversationId, 'hello')
      await untilReplied(platform, conversationId)
      const [first] = await replies(platform, conversationId)
      process.kill(victim.pid, 'SIGKILL')
      const killedAt = Date.now()
      await processes.start(platform, 'worker')

      await vi.waitFor(async () => expect(await replies(platform, conversationId)).toEqual([first, 'second']), {
        timeout: 50_000,
      })
      expect(Date.now() - killedAt).toBeLessThan(40_000)
      const [event] = await endedEvents(platform, bot.id, 1)
      expect(event).toMatchObject({ status: 'processed', attempt: 2 })
      expect(await replies(platform, conversationId)).toEqual([first, 'second'])
    },
  )

  test.each([
    ['event ends without it', `throw new Error('no answer today')`, 'failed', []],
    [
      'next run begins it anew',
      `const stream = client.streamMessage(conversationId); await stream.write('a whole one'); return stream.end()`,
      'processed',
      ['message_stream_delta', 'message_stream_complete', 'message_created'],
    ],
  ])(
    'a worker killed while its bot streams a message: listeners get the abort of that stream when the %s',
    { concurrent: false, timeout: 90_000 },
    async (_title, repeated, status, following) => {
      const victim = await processes.start(platform, 'worker')
      const bot = await platform.createBot(`
      export const hooks = {
        async afterIncomingMessage({ event: { conversationId }, client }) {
          const [begun] = (await client.listMessages({ conversationId })).messages.filter(({ direction }) => direction === 'outgoing')
          await client.createMessage({ conversationId, type: 'text', payload: { text: String(Math.random()) } })
          // The run that repeats the first one finds its reply.
          if (begun) { ${repeated} }
          const stream = client.streamMessage(conversationId)
          await stream.write('half a sent')
          await new Promise((resolve) => setTimeout(resolve, 50_000))
        },
      }`)
      const chatUser = await createChatUser(bot.chatUrl)
      const conversationId = await chatUser.createConversation()
      const stream = await listen(bot.chatUrl, chatUser.key, conversationId)
      try {
        await chatUser.send(conversationId, 'go')
        const types = () => stream.frames().map(({ type }) => type)
        const begun = ['message_created', 'message_created', 'message_stream_delta']
        await expect.poll(types, { timeout: 30_000 }).toEqual(begun)
        process.kill(victim.pid, 'SIGKILL')
        await processes.start(platform, 'worker')
        const [event] = await endedEvents(platform, bot.id, 1)
        expect(event).toMatchObject({ status, attempt: 2 })
        const all = [...begun, 'message_stream_abort', ...following]
        await expect.poll(types, { timeout: 30_000 }).toEqual(all)
        expect(stream.frames()[begun.length]!.data).toEqual({ streamId: `${event!.id}/1`, conversationId })
      } finally {
        await stream.close()
      }
    },
  )

  test(
    'a worker that starts after the messages handles them, and one that gets SIGTERM finishes what it has begun',
    { concurrent: false, timeout: 90_000 },
    async () => {
      const first = await processes.start(platform, 'worker')
      const bot = await platform.createBot(slowBot)
      await first.stop()
      const chatUser = await createChatUser(bot.chatUrl)
      const conversationId = await chatUser.createConversation()
      await chatUser.send(conversationId, 'is anybody there?')

      const second = await processes.start(platform, 'worker')
      await untilReplied(platform, conversationId)
      const stoppedAt = Date.now()
      expect(await second.stop()).toEqual({ code: 0, signal: null })
      expect(Date.now() - stoppedAt).toBeLessThan(25_000)
      expect(await replies(platform, conversationId)).toHaveLength(2)
      expect(await endedEvents(platform, bot.id, 1)).toMatchObject([{ status: 'processed', attempt: 1 }])
    },
  )

  test(
    'a worker that gets SIGTERM hands back what does not end in time, and another one goes on with it',
    { concurrent: false, timeout: 90_000 },
    async () => {
      const first = await processes.start(platform, 'worker', { SHUTDOWN_SECONDS: '10' })
      const bot = await platform.createBot(`
      export const hooks = {
        async afterIncomingMessage({ event, client, state }) {
          const { message } = await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: String(Math.random()) } })
          const { messages } = await client.listMessages({ conversationId: event.conversationId })
          // The first run waits; the one that repeats it finds its reply older than itself.
          if (Date.now() - Date.parse(message.createdAt) < 5000) await new Promise((resolve) => setTimeout(resolve, 50_000))
          state.bot.replies = messages.length - 1
        },
      }`)
      const chatUser = await createChatUser(bot.chatUrl)
      const conversationId = await chatUser.createConversation()
      await chatUser.send(conversationId, 'take your time')
      await untilReplied(platform, conversationId)
      const stoppedAt = Date.now()
      expect(await first.stop()).toEqual({ code: 0, signal: null })
      // Without the setting it would wait for 17.5 s before it interrupts anything.
      expect(Date.now() - stoppedAt).toBeLessThan(15_000)

      await processes.start(platform, 'worker')
      expect(await endedEvents(platform, bot.id, 1)).toMatchObject([{ status: 'processed', attempt: 2 }])
      expect(await replies(platform, conversationId)).toHaveLength(1)
      expect(await platform.context.db('states').where({ bot_id: bot.id }).pluck('payload')).toEqual([{ replies: 1 }])
    },
  )

  test(
    'an api process of its own answers, and ends its streams and itself at SIGTERM',
    { concurrent: false },
    async () => {
      const port = String(await freePort())
      const api = await processes.start(platform, 'api', { PORT: port })
      const bot = await platform.createBot()
      const chatUser = await createChatUser(bot.chatUrl)
      const conversationId = await chatUser.createConversation()
      const url = `http://127.0.0.1:${port}/chat/${bot.webhookId}/conversations/${conversationId}/listen`
      const listen = () => fetch(url, { headers: { 'x-user-key': chatUser.key } })
      await vi.waitFor(async () => expect((await listen()).status).toBe(200), { timeout: 50_000 })
      const stream = await listen()
      const ended = stream.text()
      await chatUser.send(conversationId, 'heard by way of the other process')
      expect(await api.stop()).toEqual({ code: 0, signal: null })
      expect(await ended).toContain('heard by way of the other process')
    },
  )
})

test('a Redis that is emptied while events wait loses none of them', async () => {
  const processes = new Processes()
  const redis = await startRedis()
  const platform = await openPlatform({
    worker: false,
    environment: { REDIS_URL: redis.url, WORKER_SWEEP_SECONDS: '1' },
  })
  try {
    const worker = await processes.start(platform, 'worker')
    const bot = await platform.createBot(`
      export const hooks = {
        async afterIncomingMessage({ event, client }) {
          await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: event.preview } })
        },
      }`)
    await worker.stop()
    const chatUser = await createChatUser(bot.chatUrl)
    const conversations = await Promise.all(Array.from({ length: 20 }, () => chatUser.createConversation()))
    await Promise.all(conversations.map((conversationId) => chatUser.send(conversationId, 'hello')))
    await flush(redis.url)
    await processes.start(platform, 'worker')
    await endedEvents(platform, bot.id, 20)
    for (const conversationId of conversations) expect(await replies(platform, conversationId)).toEqual(['hello'])

    // And the queue works on as if nothing had happened, while a worker is at it, too.
    await flush(redis.url)
    await chatUser.send(conversations[0]!, 'again')
    await endedEvents(platform, bot.id, 21)
  } finally {
    await processes.stop()
    await platform[Symbol.asyncDispose]()
    await redis.stop()
  }
}, 90_000)

test('messages that are sent while Redis is unavailable are accepted, and handled when it is back', async () => {
  const redis = await startRedis()
  const platform = await openPlatform({ environment: { REDIS_URL: redis.url, WORKER_SWEEP_SECONDS: '1' } })
  let again
  try {
    const bot = await platform.createBot('export const hooks = { afterIncomingMessage() {} }')
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    await redis.stop()
    expect((await chatUser.send(conversationId, 'hello?')).status).toBe(201)
    again = await startRedis({ port: Number(new URL(redis.url).port) })
    expect(await endedEvents(platform, bot.id, 1)).toMatchObject([{ status: 'processed' }])
  } finally {
    await platform[Symbol.asyncDispose]()
    await again?.stop()
  }
}, 90_000)

/** How to make a Redis refuse writes, and take them again. */
const refusals: Record<string, [begin: string[], end: string[]]> = {
  'is full': [
    ['config', 'set', 'maxmemory', '1'],
    ['config', 'set', 'maxmemory', '0'],
  ],
  'is a read-only replica': [
    ['replicaof', '127.0.0.1', '1'],
    ['replicaof', 'no', 'one'],
  ],
}

test('a Redis that refuses writes is unavailable, is asked seldom, and gets all jobs as soon as it takes them', async () => {
  const redis = await startRedis()
  // The sweep at the return of Redis wakes the worker, not a later one.
  const platform = await openPlatform({ environment: { REDIS_URL: redis.url, WORKER_SWEEP_SECONDS: '600' } })
  const client = new Redis(redis.url)
  const run = ([name, ...parameters]: string[]) => client.call(name!, ...parameters)
  /** Writes that this Redis has refused since it started. */
  async function countRefused(): Promise<number> {
    const counts = (await client.info('errorstats')).matchAll(/^errorstat_(?:OOM|READONLY):count=(\d+)/gm)
    return Array.from(counts).reduce((sum, [, count]) => sum + Number(count), 0)
  }
  const readiness = async () => (await send('GET', `${platform.url}/readyz`)).body
  try {
    const bot = await platform.createBot(`
      export const hooks = {
        async afterIncomingMessage({ event, client }) {
          await new Promise((resolve) => setTimeout(resolve, 200))
          await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: event.preview } })
        },
      }`)
    const chatUser = await createChatUser(bot.chatUrl)
    const conversations = await Promise.all(Array.from({ length: 40 }, () => chatUser.createConversation()))
    const stream = await listen(bot.chatUrl, chatUser.key, conversations[0]!)
    const heard = () => stream.frames().flatMap(({ data }) => (data.isBot ? [data.payload.text] : []))
    for (const [text, [begin, end]] of Object.entries(refusals)) {
      // More than the worker's slots, so that it asks for further jobs meanwhile.
      await Promise.all(conversations.map((conversationId) => chatUser.send(conversationId, text)))
      await run(begin)
      await expect.poll(readiness).toEqual({ status: 'unavailable', database: 'ok', redis: 'unavailable' })
      expect((await chatUser.send(conversations[0]!, `${text}, and more`)).status).toBe(201)
      const [before, now] = [await countRefused(), performance.now()]
      await vi.waitUntil(() => performance.now() > now + 2000, { timeout: 5000 })
      expect((await countRefused()) - before).toBeLessThan(60)

      await run(end)
      await expect.poll(heard, { timeout: 15_000 }).toContain(`${text}, and more`)
      for (const conversationId of conversations) {
        await expect.poll(() => replies(platform, conversationId)).toContain(text)
      }
    }
    for (const conversationId of conversations) {
      const own =
        conversationId === conversations[0]
          ? Object.keys(refusals).flatMap((text) => [text, `${text}, and more`])
          : Object.keys(refusals)
      expect(await replies(platform, conversationId)).toEqual(own)
    }
  } finally {
    client.disconnect()
    await platform[Symbol.asyncDispose]()
    await redis.stop()
  }
}, 90_000)

async function flush(url: string): Promise<void> {
  const client = new Redis(url)
  await client.flushall()
  client.disconnect()
}

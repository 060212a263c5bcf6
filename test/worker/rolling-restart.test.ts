import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Child } from '../../cli/start/children.ts'
import { freePort } from '../../cli/postgres/free-port.ts'
import { createChatUser, type ChatUser } from '../support/chat-client.ts'
import { listen } from '../support/event-stream.ts'
import { endedEvents, replies } from '../support/outcomes.ts'
import { backEnds, openPlatform, type Platform } from '../support/platform.ts'
import { Processes } from '../support/processes.ts'

const processes = new Processes()
let platform: Platform

const start = (name: 'api' | 'worker', environment?: NodeJS.ProcessEnv) => processes.start(platform, name, environment)

async function stop(child: Child): Promise<void> {
  const stoppedAt = Date.now()
  expect(await child.stop()).toEqual({ code: 0, signal: null })
  expect(Date.now() - stoppedAt).toBeLessThan(25_000)
}

afterEach(() => processes.stop())

const answeringBot = `
  export const hooks = {
    async afterIncomingMessage({ event, client, state }) {
      const count = (state.conversation.count ?? 0) + 1
      await new Promise((resolve) => setTimeout(resolve, 50))
      await client.createMessage({
        conversationId: event.conversationId,
        type: 'text',
        payload: { text: 're: ' + event.preview + ', which is ' + count },
      })
      state.conversation.count = count
    },
  }`

/** The load balancer of the api processes. It sends no more requests to one that was asked to stop. */
interface Router {
  urls: Set<string>
  request(path: string, init: RequestInit): Promise<Response>
}

function openRouter(urls: string[]): Router {
  const open = new Set(urls)
  let turn = 0
  return {
    urls: open,
    request: (path, init) => fetch(`${[...open][turn++ % open.size]}${path}`, init),
  }
}

interface Conversation {
  conversationId: string
  chatUser: ChatUser
  sent: string[]
}

/** Says one thing after the other until it is told to stop, and takes no refusal. */
async function sendUntil(
  { conversationId, chatUser, sent }: Conversation,
  router: Router,
  isOver: () => boolean,
): Promise<void> {
  const { pathname } = new URL(chatUrl)
  while (!isOver()) {
    const text = `message ${sent.length + 1}`
    const response = await router.request(`${pathname}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-user-key': chatUser.key },
      body: JSON.stringify({ conversationId, payload: { type: 'text', text } }),
    })
    expect([response.status, await response.text()]).toEqual([201, expect.anything()])
    sent.push(text)
    await pause(100)
  }
}

/**
 * Hears all that is said in a conversation, over one stream after the other, as event sources do.
 *
 * @param onOpen is called when the first stream is there, and from then on nothing may be missed
 */
async function receiveAll(
  { conversationId, chatUser }: Conversation,
  { urls }: Router,
  isOver: () => boolean,
  onOpen: () => void,
): Promise<string[]> {
  const { pathname } = new URL(chatUrl)
  const heard: string[] = []
  let lastEventId: string | undefined
  for (let turn = 0; !isOver(); turn++) {
    const url = `${[...urls][turn % urls.size]}${pathname}`
    const stream = await listen(url, chatUser.key, conversationId, { lastEventId })
    onOpen()
    while (!isOver() && !(await Promise.race([stream.ended.then(() => true), pause(50, false)])));
    await stream.close()
    heard.push(...stream.frames().map(({ data }) => String(data.payload?.text)))
    lastEventId = stream.ids().at(-1) ?? lastEventId
  }
  return heard
}

async function untilReady(url: string): Promise<void> {
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  await expect.poll(isReady, { timeout: 30_000 }).toBe(true)
}

let chatUrl: string

describe.each(backEnds)('on %s', (backEnd) => {
  beforeAll(async () => {
    const lock = { WORKER_LOCK_SECONDS: '2', WORKER_STALLED_SECONDS: '1', CHAT_RATE_LIMIT_USER: '0' }
    platform = await openPlatform({ backEnd, worker: false, environment: lock })
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  test('every process is replaced, one after the other, while people talk: no request is refused, and streams go on', async () => {
    const ports = [String(await freePort()), String(await freePort())]
    const urls = ports.map((port) => `http://127.0.0.1:${port}`)
    const apis = await Promise.all(ports.map((port) => start('api', { PORT: port })))
    const workers = await Promise.all([start('worker'), start('worker')])
    const bot = await platform.createBot(answeringBot)
    chatUrl = bot.chatUrl
    await Promise.all(urls.map(untilReady))
    const chatUser = await createChatUser(chatUrl)
    const conversations: Conversation[] = []
    while (conversations.length < 10)
      conversations.push({ conversationId: await chatUser.createConversation(), chatUser, sent: [] })

    let isSent = false
    let isReceived = false
    const router = openRouter(urls)
    const observed = conversations.slice(0, 3).map((each) => ({ each, open: Promise.withResolvers<void>() }))
    const receiving = Promise.all(
      observed.map(({ each, open }) => receiveAll(each, router, () => isReceived, open.resolve)),
    )
    // The processes are ended first, whichever of the two fails.
    receiving.catch(() => {})
    await Promise.race([receiving, Promise.all(observed.map(({ open }) => open.promise))])
    const sending = Promise.all(conversations.map((each) => sendUntil(each, router, () => isSent)))
    sending.catch(() => {})
    for (const [index, port] of ports.entries()) {
      router.urls.delete(urls[index]!)
      await stop(apis[index]!)
      await start('api', { PORT: port })
      await untilReady(urls[index]!)
      router.urls.add(urls[index]!)
      await start('worker')
      await stop(workers[index]!)
    }
    isSent = true
    await sending

    const count = conversations.reduce((sum, { sent }) => sum + sent.length, 0)
    expect(count).toBeGreaterThan(100)
    await endedEvents(platform, bot.id, count)
    // Nobody's run was cut short.
    const events = await endedEvents(platform, bot.id, count)
    expect(events.filter(({ attempt, status }) => attempt !== 1 || status !== 'processed')).toEqual([])
    await pause(500)
    isReceived = true
    const heard = await receiving
    for (const [index, talked] of conversations.entries()) {
      const answered = talked.sent.map((text, index) => `re: ${text}, which is ${index + 1}`)
      expect(await replies(platform, talked.conversationId)).toEqual(answered)
      const all = [...talked.sent, ...answered].toSorted()
      expect((heard[index] ?? all).toSorted()).toEqual(all)
    }
  }, 120_000)

  test('a worker that is killed while it stops has done nothing twice, and another one ends what it had begun', async () => {
    const worker = await start('worker')
    const bot = await platform.createBot(`
      export const hooks = {
        async afterIncomingMessage({ event, client, state }) {
          const say = (text) => client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
          const { message } = await say('first')
          // The first run hangs; the one that repeats it finds its reply older than itself.
          if (Date.now() - Date.parse(message.createdAt) < 1500) await new Promise(() => {})
          await say('second')
          state.conversation.runs = (state.conversation.runs ?? 0) + 1
        },
      }`)
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    await chatUser.send(conversationId, 'hello')
    await expect.poll(() => replies(platform, conversationId), { timeout: 10_000, interval: 20 }).toHaveLength(1)
    process.kill(worker.pid, 'SIGTERM')
    await start('worker')
    process.kill(worker.pid, 'SIGKILL')
    expect(await worker.exited).toEqual({ code: null, signal: 'SIGKILL' })

    expect(await endedEvents(platform, bot.id, 1)).toMatchObject([{ status: 'processed', attempt: 2 }])
    expect(await replies(platform, conversationId)).toEqual(['first', 'second'])
    expect(await platform.context.db('states').where({ bot_id: bot.id }).pluck('payload')).toEqual([{ runs: 1 }])
  }, 60_000)
})

import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { readConfig } from '#shared/config/config.ts'
import { openContext } from '#shared/context.ts'
import { installationsTopic } from '#shared/installation-cache.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { configureInstallation } from '#shared/store/installations.ts'
import { startServer } from '../../api/server.ts'
import { signKey } from '../shared/operations/chat/conformance/fixture.ts'
import { createChatUser, type ChatUser } from '../support/chat-client.ts'
import { listen as openStream, type EventStream } from '../support/event-stream.ts'
import { backEnds, openPlatform, type DeployedBot, type Platform } from '../support/platform.ts'

const opened: EventStream[] = []
afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  await Promise.all(opened.splice(0).map((stream) => stream.close()))
})

async function listen(chatUrl: string, key: string, conversationId: string): Promise<EventStream> {
  const stream = await openStream(chatUrl, key, conversationId)
  opened.push(stream)
  expect(stream.response.status).toBe(200)
  return stream
}

/** Resolves with `ended` when the stream has ended. */
const end = (stream: EventStream) => stream.ended.then(() => 'ended')

/** Has twenty seconds pass for the looks at all streams. */
const look = () => void vi.advanceTimersByTime(20_000)

/** Says whether a stream goes on: what is said in the conversation comes over it. */
async function isOpen(stream: EventStream, chatUser: ChatUser, conversationId: string): Promise<boolean> {
  const text = `still there? ${Math.random()}`
  expect((await chatUser.send(conversationId, text)).status).toBe(201)
  const hears = () => stream.lines().some((line) => line.includes(text))
  await expect.poll(hears).toBe(true)
  return hears()
}

describe.each(backEnds)('an open stream on %s', (backEnd) => {
  let platform: Platform
  let bot: DeployedBot
  let alice: ChatUser
  let bob: ChatUser
  let conversationId: string
  beforeAll(async () => {
    platform = await openPlatform({ backEnd, worker: false })
  })
  afterAll(() => platform[Symbol.asyncDispose]())
  beforeEach(async () => {
    bot = await platform.createBot()
    alice = await createChatUser(bot.chatUrl, { id: 'alice' })
    bob = await createChatUser(bot.chatUrl, { id: 'bob' })
    conversationId = await alice.createConversation()
    await alice.ask('POST', `/conversations/${conversationId}/participants`, { userId: 'bob' })
  })

  async function configure(configuration: object, on = bot): Promise<void> {
    const change = { integrations: { chat: { configuration } } }
    expect((await platform.ask('PUT', `/v1/admin/bots/${on.id}`, change)).status).toBe(200)
  }

  /** Changes the key in the database and tells nobody. */
  async function configureSilently(encryptionKey: string): Promise<void> {
    const { db, config } = platform.context
    const { id } = (await db('installations').where({ bot_id: bot.id }).first('id'))!
    await configureInstallation(db, config.secret, { botId: bot.id, id, configuration: { encryptionKey } })
  }

  test('ends when the chat’s encryption key is changed, also as a WebSocket and on another api', async () => {
    await using context = openContext(
      readConfig({ ...platform.environment, PORT: '0' }),
      createLogger('second', platform.context.config.logLevel),
    )
    await using second = await startServer(context)
    const there = `http://127.0.0.1:${second.port}/chat/${bot.webhookId}`
    const streams = [
      await listen(bot.chatUrl, alice.key, conversationId),
      await listen(bot.chatUrl, bob.key, conversationId),
      await listen(there, alice.key, conversationId),
    ]
    // Resolves when the other process listens: its own listener waits for the same subscription.
    await context.signals.subscribe(installationsTopic, () => {})
    const address = bot.chatUrl.replace('http', 'ws')
    const socket = new WebSocket(`${address}/conversations/${conversationId}/listen?x-user-key=${alice.key}`)
    await once(socket, 'open')
    const closed = once(socket, 'close')
    const other = await platform.createBot()
    const carol = await createChatUser(other.chatUrl)
    const elsewhere = await carol.createConversation()
    const untouched = await listen(other.chatUrl, carol.key, elsewhere)

    await configure({ encryptionKey: 'another' })
    expect(await Promise.all(streams.map(end))).toEqual(['ended', 'ended', 'ended'])
    await closed
    expect(await isOpen(untouched, carol, elsewhere)).toBe(true)
  })

  test('goes on when something else of the chat is changed', async () => {
    const stream = await listen(bot.chatUrl, alice.key, conversationId)
    await configure({ webhookUrl: 'http://127.0.0.1:9/' })
    expect(await isOpen(stream, alice, conversationId)).toBe(true)
  })

  test('ends when the bot is deleted', async () => {
    const stream = await listen(bot.chatUrl, alice.key, conversationId)
    expect((await platform.ask('DELETE', `/v1/admin/bots/${bot.id}`, {})).status).toBe(200)
    expect(await end(stream)).toBe('ended')
  })

  /** Opens a platform whose looks are made by hand, since they begin with the api. */
  async function withLooks(work: (chatUrl: string) => Promise<void>): Promise<void> {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    await using context = openContext(
      readConfig({ ...platform.environment, PORT: '0' }),
      createLogger('second', platform.context.config.logLevel),
    )
    await using second = await startServer(context)
    await work(`http://127.0.0.1:${second.port}/chat/${bot.webhookId}`)
    vi.useRealTimers()
  }

  describe('whose signals are lost', () => {
    test.each([
      ['the key was changed', () => configureSilently('another')],
      [
        'the user has just been deleted',
        () => platform.context.db('users').where({ foreign_id: 'bob', bot_id: bot.id }).delete(),
      ],
    ] as const)('ends within twenty seconds after %s', async (_what, change) => {
      await withLooks(async (chatUrl) => {
        const stream = await listen(chatUrl, bob.key, conversationId)
        await change()
        look()
        expect(await end(stream)).toBe('ended')
      })
    })

    test('ends within twenty seconds after the key was changed, also when others of the new key have begun', async () => {
      await withLooks(async (chatUrl) => {
        const stream = await listen(chatUrl, bob.key, conversationId)
        await configureSilently('another')
        await expect
          .poll(async () => (await fetch(`${chatUrl}/users/me`, { headers: { 'x-user-key': bob.key } })).status)
          .toBe(401)
        const newKey = await signKey(platform, bot, { id: 'alice' }, { encryptionKey: 'another' })
        await listen(chatUrl, newKey, conversationId)
        look()
        expect(await end(stream)).toBe('ended')
      })
    })

    test('ends within twenty seconds after the key has expired, and others go on', async () => {
      const exp = Math.floor(Date.now() / 1000) + 2
      const key = await signKey(platform, bot, { id: 'bob', exp })
      await withLooks(async (chatUrl) => {
        const stream = await listen(chatUrl, key, conversationId)
        const other = await listen(chatUrl, alice.key, conversationId)
        await expect.poll(() => Date.now() > exp * 1000, { timeout: 5000 }).toBe(true)
        look()
        expect(await end(stream)).toBe('ended')
        expect(await isOpen(other, alice, conversationId)).toBe(true)
      })
    })
  })

  /** Does something after a listener was authenticated and before it hears anything. */
  function duringOpening(act: () => Promise<unknown>): void {
    const { signals } = platform.context
    const subscribe = signals.subscribe.bind(signals)
    vi.spyOn(signals, 'subscribe').mockImplementation(async (topic, listener) => {
      if (topic.includes(conversationId)) await act()
      return subscribe(topic, listener)
    })
  }

  test.each([
    ['deleted', 404, () => bob.ask('DELETE', '/users/me', {})],
    ['removed', 403, () => alice.ask('DELETE', `/conversations/${conversationId}/participants/bob`, {})],
    ['given another key to sign with', 401, () => configure({ encryptionKey: 'another' })],
  ] as const)('of a user who is %s while it opens is refused with %i', async (_what, status, act) => {
    duringOpening(act)
    const url = `${bot.chatUrl}/conversations/${conversationId}/listen`
    const answer = await fetch(url, { headers: { 'x-user-key': bob.key }, signal: AbortSignal.timeout(10_000) })
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({ status, body: { code: status } })
  })

  test('of a user who is deleted while it opens as a WebSocket is refused before the upgrade', async () => {
    duringOpening(() => bob.ask('DELETE', '/users/me', {}))
    const path = `/conversations/${conversationId}/listen?x-user-key=${bob.key}`
    const socket = new WebSocket(`${bot.chatUrl.replace('http', 'ws')}${path}`)
    let isOpen = false
    socket.addEventListener('open', () => (isOpen = true))
    await once(socket, 'error')
    expect(isOpen).toBe(false)
  })
})

import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { publishHint, publishEntry } from '#shared/signals/after-commit.ts'
import { newId } from '#shared/ids.ts'
import { insertOutgoingMessage } from '#shared/store/messages.ts'
import { createChatUser, type ChatUser } from '../support/chat-client.ts'
import { listen as openStream, type EventStream } from '../support/event-stream.ts'
import { backEnds, openPlatform, send, type DeployedBot, type Platform } from '../support/platform.ts'

const opened: EventStream[] = []
afterEach(async () => {
  vi.useRealTimers()
  await Promise.all(opened.splice(0).map((stream) => stream.close()))
})

async function listen(bot: DeployedBot, chatUser: ChatUser, conversationId: string): Promise<EventStream> {
  const stream = await openStream(bot.chatUrl, chatUser.key, conversationId)
  opened.push(stream)
  return stream
}

const texts = (stream: EventStream) => stream.frames().map(({ data }) => data.payload.text)

describe.each(backEnds)('a stream on %s', (backEnd) => {
  let platform: Platform
  let bot: DeployedBot
  let alice: ChatUser
  beforeAll(async () => {
    platform = await openPlatform({ backEnd, worker: false })
    bot = await platform.createBot()
    alice = await createChatUser(bot.chatUrl, { id: 'alice' })
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  test('is open as soon as its headers arrive, and receives all messages from then on', async () => {
    const conversationId = await alice.createConversation()
    const { response, frames, text } = await listen(bot, alice, conversationId)
    // Firefox gives a page the headers with the first byte of the body.
    await expect.poll(text).toBe(':\n\n')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    expect(response.headers.get('cache-control')).toContain('no-transform')
    const said = []
    for (const text of ['one', 'two', 'three']) said.push((await alice.send(conversationId, text)).body.message)
    await expect.poll(frames).toHaveLength(3)
    expect(frames()).toEqual(said.map((message) => ({ type: 'message_created', data: { ...message, isBot: false } })))
  })

  test('receives its own conversation and no other, under the name that the listener gave it', async () => {
    await alice.createConversation(`${backEnd}-named`)
    const { id } = (await platform.context
      .db('conversations')
      .where({ foreign_id: `${backEnd}-named` })
      .first())!
    const streams = await Promise.all([listen(bot, alice, `${backEnd}-named`), listen(bot, alice, id)])
    await alice.send(await alice.createConversation(), 'elsewhere')
    await alice.send(id, 'here')
    for (const { frames } of streams) await expect.poll(frames).toHaveLength(1)
    expect(streams.map(({ frames }) => frames()[0]!.data)).toMatchObject([
      { conversationId: `${backEnd}-named`, userId: 'alice', payload: { text: 'here' } },
      { conversationId: id, userId: 'alice' },
    ])
  })

  test('receives no entry twice when it is announced again', async () => {
    const conversationId = await alice.createConversation()
    const stream = await listen(bot, alice, conversationId)
    const { body } = await alice.send(conversationId, 'once')
    const signal = { type: 'message_created', data: { ...body.message, isBot: false } } as const
    const entry = {
      botId: bot.id,
      conversationId,
      sequence: 1,
      at: new Date(body.message.createdAt),
      hasWebhook: false,
    }
    await publishEntry(platform.context, entry, signal)
    await publishHint(platform.context, conversationId)
    await alice.send(conversationId, 'the end')
    await expect.poll(stream.frames).toHaveLength(2)
    expect(texts(stream)).toEqual(['once', 'the end'])
  })

  test('makes up for an announcement that was lost, in the right order', async () => {
    const conversationId = await alice.createConversation()
    const stream = await listen(bot, alice, conversationId)
    await alice.send(conversationId, 'one')
    await sendUnannounced(platform, bot, conversationId, 'two')
    await sendUnannounced(platform, bot, conversationId, 'three')
    await alice.send(conversationId, 'four')
    await expect.poll(() => texts(stream)).toEqual(['one', 'two', 'three', 'four'])
  })

  test('receives an entry that was never announced within twenty seconds', async () => {
    const conversationId = await alice.createConversation()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    // The look at the logs began with the platform, before the clock was ours.
    await using other = await openPlatform({ backEnd, worker: false })
    const there = await other.createBot()
    const bob = await createChatUser(there.chatUrl)
    const itsConversationId = await bob.createConversation()
    const stream = await listen(there, bob, itsConversationId)
    await sendUnannounced(other, there, itsConversationId, 'alone')
    vi.advanceTimersByTime(20_000)
    vi.useRealTimers()
    await expect.poll(() => texts(stream)).toEqual(['alone'])
    expect(conversationId).not.toBe(itsConversationId)
  })

  test('receives messages of many users at once in the order of their times, as they are listed', async () => {
    const conversationId = await alice.createConversation()
    const streams = await Promise.all([1, 2].map(() => listen(bot, alice, conversationId)))
    await Promise.all(Array.from({ length: 60 }, (_, index) => alice.send(conversationId, String(index))))
    const listed = (await alice.messages(conversationId)).map(({ text }) => text)
    for (const stream of streams) await expect.poll(() => texts(stream)).toEqual(listed)
  })

  test('is pinged every 25 seconds', async () => {
    const conversationId = await alice.createConversation()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const { lines } = await listen(bot, alice, conversationId)
    vi.advanceTimersByTime(24_999)
    vi.advanceTimersByTime(1)
    vi.useRealTimers()
    await expect.poll(lines).toEqual(['ping'])
  })
})

/** Stores what the bot says and tells nobody, as when the process dies in between. */
async function sendUnannounced(platform: Platform, bot: DeployedBot, conversationId: string, text: string) {
  const message = { id: newId('msg'), botId: bot.id, userId: bot.id, type: 'text', payload: { text } }
  await insertOutgoingMessage(platform.context.db, { ...message, conversationId, deliveryId: newId('evt') })
}

describe('the key in the query of', () => {
  let platform: Platform
  let bot: DeployedBot
  let alice: ChatUser
  beforeAll(async () => {
    platform = await openPlatform({ worker: false, environment: { CHAT_RATE_LIMIT_USER: '10' } })
    bot = await platform.createBot()
    alice = await createChatUser(bot.chatUrl)
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  test('a stream identifies the user, whose requests are limited, and no other key does', async () => {
    const conversationId = await alice.createConversation()
    const address = `${bot.chatUrl}/conversations/${conversationId}/listen?x-user-key=`
    const abort = new AbortController()
    const opened = await fetch(address + alice.key, { signal: abort.signal })
    expect(opened.status).toBe(200)
    abort.abort()
    expect((await fetch(`${address}forged`)).status).toBe(401)
    const again = () => fetch(address + alice.key, { signal: AbortSignal.timeout(20_000) })
    await expect.poll(async () => (await again()).status).toBe(429)
  })

  test('another operation does not authenticate the caller', async () => {
    const bob = await createChatUser(bot.chatUrl)
    expect((await fetch(`${bot.chatUrl}/users/me?x-user-key=${bob.key}`)).status).toBe(401)
  })
})

test('a stream that cannot be opened is refused with an error object that keeps the reason to itself', async () => {
  await using platform = await openPlatform({ worker: false })
  const bot = await platform.createBot()
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  platform.context.signals.subscribe = async () => {
    throw new Error('the password is hunter2')
  }
  const url = `${bot.chatUrl}/conversations/${conversationId}/listen`
  const { status, headers, body } = await send('GET', url, undefined, { 'x-user-key': chatUser.key })
  expect({ status, ...body }).toMatchObject({ status: 500, code: 500, type: 'Internal', id: expect.any(String) })
  expect(headers.get('content-type')).toContain('application/json')
  expect(JSON.stringify(body)).not.toContain('hunter2')

  const eventSource = { 'x-user-key': chatUser.key, accept: 'text/event-stream' }
  const gently = await send('GET', url, undefined, eventSource)
  expect(gently).toMatchObject({ status: 429, body: { code: 429, type: 'RateLimited' } })
  expect(gently.headers.get('retry-after')).toBe('5')
})

test('a listener that does not read is dropped before it costs memory', async () => {
  await using platform = await openPlatform({ worker: false })
  const bot = await platform.createBot()
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  const abort = new AbortController()
  const response = await fetch(`${bot.chatUrl}/conversations/${conversationId}/listen`, {
    headers: { 'x-user-key': chatUser.key },
    signal: abort.signal,
  })
  const other = await listen(bot, chatUser, conversationId)
  const text = 'x'.repeat(900_000)
  for (let count = 0; count < 30; count++) await chatUser.send(conversationId, text)
  await expect.poll(() => other.lines().length, { timeout: 20_000 }).toBe(30)
  // Reading comes too late: the connection is gone.
  await expect(response.text()).rejects.toThrow('terminated')
  abort.abort()
})

import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { tellListeners } from '#shared/after-commit.ts'
import { createChatter, type Chatter } from '../chatter.ts'
import { backEnds, openPlatform, type DeployedBot, type Platform } from '../platform.ts'

interface Frame {
  type: string
  data: { id: string; conversationId: string; userId: string; isBot: boolean; payload: { text: string } }
}

/** An open stream, and what has come over it. */
async function listen(bot: DeployedBot, chatter: Chatter, conversationId: string) {
  const abort = new AbortController()
  const response = await fetch(`${bot.chatUrl}/conversations/${conversationId}/listen`, {
    headers: { 'x-user-key': chatter.key },
    signal: abort.signal,
  })
  let text = ''
  const read = async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk
  }
  const ended = read().catch(() => {})
  opened.push(async () => {
    abort.abort()
    await ended
  })
  const lines = () => [...text.matchAll(/^event: message\ndata: (.*)\n\n/gm)].map(([, data]) => data!)
  return { response, lines, frames: () => lines().map((line) => JSON.parse(line) as Frame) }
}

const opened: (() => Promise<void>)[] = []
afterEach(async () => {
  vi.useRealTimers()
  await Promise.all(opened.splice(0).map((close) => close()))
})

describe.each(backEnds)('a stream on %s', (backEnd) => {
  let platform: Platform
  let bot: DeployedBot
  let alice: Chatter
  beforeAll(async () => {
    platform = await openPlatform({ backEnd, worker: false })
    bot = await platform.createBot()
    alice = await createChatter(bot.chatUrl, { id: 'alice' })
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  test('is open as soon as its headers are there, and hears all that is said from then on', async () => {
    const conversationId = await alice.createConversation()
    const { response, frames } = await listen(bot, alice, conversationId)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    expect(response.headers.get('cache-control')).toContain('no-transform')
    const said = []
    for (const text of ['one', 'two', 'three']) said.push((await alice.say(conversationId, text)).body.message)
    await expect.poll(frames).toHaveLength(3)
    expect(frames()).toEqual(said.map((message) => ({ type: 'message_created', data: { ...message, isBot: false } })))
  })

  test('hears its own conversation and no other, under the name that the listener gave it', async () => {
    await alice.createConversation(`${backEnd}-named`)
    const { id } = (await platform.context
      .db('conversations')
      .where({ foreign_id: `${backEnd}-named` })
      .first())!
    const streams = await Promise.all([listen(bot, alice, `${backEnd}-named`), listen(bot, alice, id)])
    await alice.say(await alice.createConversation(), 'elsewhere')
    await alice.say(id, 'here')
    for (const { frames } of streams) await expect.poll(frames).toHaveLength(1)
    expect(streams.map(({ frames }) => frames()[0]!.data)).toMatchObject([
      { conversationId: `${backEnd}-named`, userId: 'alice', payload: { text: 'here' } },
      { conversationId: id, userId: 'alice' },
    ])
  })

  test('hears nothing twice, as when a run is repeated after a crash', async () => {
    const conversationId = await alice.createConversation()
    const { frames } = await listen(bot, alice, conversationId)
    const { body } = await alice.say(conversationId, 'once')
    const data = { ...body.message, isBot: false }
    await tellListeners(platform.context, conversationId, { type: 'message_created', data })
    await alice.say(conversationId, 'the end')
    await expect.poll(frames).toHaveLength(2)
    expect(frames().map((frame) => frame.data.payload.text)).toEqual(['once', 'the end'])
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

test('a stream that cannot be opened is refused with an error object that keeps the reason to itself', async () => {
  await using platform = await openPlatform({ worker: false })
  const bot = await platform.createBot()
  const chatter = await createChatter(bot.chatUrl)
  const conversationId = await chatter.createConversation()
  platform.context.signals.subscribe = async () => {
    throw new Error('the password is hunter2')
  }
  const { status, headers, body } = await chatter.ask('GET', `/conversations/${conversationId}/listen`)
  expect({ status, ...body }).toMatchObject({ status: 500, code: 500, type: 'Internal', id: expect.any(String) })
  expect(headers.get('content-type')).toContain('application/json')
  expect(JSON.stringify(body)).not.toContain('hunter2')
})

test('a listener that does not read is dropped before it costs memory', async () => {
  await using platform = await openPlatform({ worker: false })
  const bot = await platform.createBot()
  const chatter = await createChatter(bot.chatUrl)
  const conversationId = await chatter.createConversation()
  const abort = new AbortController()
  opened.push(async () => abort.abort())
  const response = await fetch(`${bot.chatUrl}/conversations/${conversationId}/listen`, {
    headers: { 'x-user-key': chatter.key },
    signal: abort.signal,
  })
  const other = await listen(bot, chatter, conversationId)
  const text = 'x'.repeat(900_000)
  for (let count = 0; count < 30; count++) await chatter.say(conversationId, text)
  await expect.poll(() => other.lines().length, { timeout: 20_000 }).toBe(30)
  // Reading comes too late: the connection is gone.
  await expect(response.text()).rejects.toThrow('terminated')
})

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { dispatch } from '#shared/dispatch.ts'
import { identify } from '../../api/authenticate.ts'
import type { Connection } from '../../api/realtime/connection.ts'
import { openMetrics } from '#shared/telemetry/metrics.ts'
import { openRealtime, type Listening } from '../../api/realtime/realtime.ts'
import { UnreadBytes } from '../../api/realtime/unread-bytes.ts'
import { createChatUser, type ChatUser } from '../support/chat-client.ts'
import { listen, type EventStream } from '../support/event-stream.ts'
import { openPlatform, type DeployedBot, type Platform } from '../support/platform.ts'

let platform: Platform
let bot: DeployedBot
let alice: ChatUser
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  bot = await platform.createBot()
  alice = await createChatUser(bot.chatUrl)
})
afterAll(() => platform[Symbol.asyncDispose]())

const opened: EventStream[] = []
afterEach(async () => void (await Promise.all(opened.splice(0).map((stream) => stream.close()))))

async function open(conversationId: string): Promise<EventStream> {
  const stream = await listen(bot.chatUrl, alice.key, conversationId)
  opened.push(stream)
  return stream
}

test('a user has at most twenty streams of a conversation: the oldest ends for a new one', async () => {
  const conversationId = await alice.createConversation()
  const oldest = await open(conversationId)
  const others: EventStream[] = []
  for (let count = 1; count < 20; count++) others.push(await open(conversationId))
  const elsewhere = await open(await alice.createConversation())
  await alice.send(conversationId, 'for twenty')
  for (const stream of [oldest, ...others]) await expect.poll(stream.frames).toHaveLength(1)
  const newest = await open(conversationId)
  await oldest.ended
  await alice.send(conversationId, 'for the newest twenty')
  for (const stream of others) await expect.poll(stream.frames).toHaveLength(2)
  await expect.poll(() => newest.frames().at(-1)?.data.payload.text).toBe('for the newest twenty')
  expect(oldest.frames()).toHaveLength(1)
  let hasEnded = false
  void elsewhere.ended.then(() => (hasEnded = true))
  await alice.send(elsewhere.response.url.split('/').at(-2)!, 'elsewhere')
  await expect.poll(elsewhere.frames).toHaveLength(1)
  expect(hasEnded).toBe(false)
})

/** A connection whose client reads nothing beyond what it is given at first. */
class StuckConnection implements Connection {
  bytes: number
  isDestroyed = false
  #onClose: (() => void)[] = []

  constructor(bytes = 0) {
    this.bytes = bytes
  }

  send(text: string): void {
    this.bytes += text.length
  }

  unreadBytes(): number {
    return this.bytes
  }

  async drained(): Promise<void> {}

  end(): void {
    this.destroy()
  }

  destroy(): void {
    if (this.isDestroyed) return
    this.isDestroyed = true
    for (const callback of this.#onClose) callback()
  }

  isClosed(): boolean {
    return this.isDestroyed
  }

  onClose(callback: () => void): void {
    this.#onClose.push(callback)
  }
}

/** The answer of the operation by which alice listens to a conversation. */
async function listening(conversationId: string): Promise<Listening> {
  const { body } = await dispatch(platform.context, {
    method: 'GET',
    path: `${new URL(bot.chatUrl).pathname}/conversations/${conversationId}/listen`,
    query: {},
    body: async () => ({}),
    identify: identify(platform.context, { 'x-user-key': alice.key }),
  })
  return body as Listening
}

test('beyond the bound of unread bytes of all streams, those with the most end, and the others go on', async () => {
  const conversationId = await alice.createConversation()
  const body = await listening(conversationId)
  const metrics = openMetrics(false)
  const realtime = openRealtime({ ...platform.context, metrics }, new UnreadBytes(1_000_000))
  const [most, more, least] = [new StuckConnection(600_000), new StuckConnection(200_000), new StuckConnection()]
  for (const connection of [least, more, most]) await realtime.open(body, () => connection)
  await alice.send(conversationId, 'x'.repeat(100_000))
  await expect.poll(() => most.isDestroyed).toBe(true)
  await expect.poll(() => [more, least].every(({ bytes }) => bytes > 100_000)).toBe(true)
  expect([more, least].map(({ isDestroyed }) => isDestroyed)).toEqual([false, false])
  const figures = async () => (await metrics.registry.metrics()).split('\n')
  expect(await figures()).toContain('isobot_unread_disconnects_total{of="streams"} 1')
  expect(await figures()).toContain(`isobot_unread_stream_bytes ${more.bytes + least.bytes}`)
  more.bytes += 10_000_000
  await alice.send(conversationId, 'more')
  await expect.poll(figures).toContain('isobot_unread_disconnects_total{of="stream"} 1')
  await realtime.close()
})

test('a stream that catches up waits for its client with a page of unread bytes, and holds nothing beside them', async () => {
  const conversationId = await alice.createConversation()
  const before = await listening(conversationId)
  for (let count = 0; count < 10; count++) await alice.send(conversationId, 'x'.repeat(300_000))
  const { promise: hasRead, resolve: read } = Promise.withResolvers<void>()
  const connection = new StuckConnection()
  let waits = 0
  connection.drained = () => ((waits += 1), hasRead)
  const realtime = openRealtime(platform.context)
  const opened = realtime.open({ ...before, resumes: true }, () => connection)
  await expect.poll(() => waits).toBe(1)
  // Three messages make a page, and all of them are counted.
  expect(connection.bytes).toBeGreaterThan(900_000)
  expect(connection.bytes).toBeLessThan(1_000_000)
  read()
  await opened
  expect(connection.bytes).toBeGreaterThan(3_000_000)
  connection.destroy()
  await realtime.close()
})

test('bytes that a client has read, or whose stream has closed, are unread no more', () => {
  const unread = new UnreadBytes(1_000_000)
  const connections = Array.from({ length: 5 }, () => new StuckConnection(300_000))
  const [first, second, ...others] = connections
  for (const connection of [first!, second!]) unread.sent(connection)
  first!.bytes = 0
  unread.closed(second!)
  for (const connection of others) unread.sent(connection)
  expect(connections.some(({ isDestroyed }) => isDestroyed)).toBe(false)
  first!.bytes = 200_000
  unread.sent(first!)
  expect(connections.filter(({ isDestroyed }) => isDestroyed)).toHaveLength(1)
  expect(first!.isDestroyed).toBe(false)
})

import { once } from 'node:events'
import { request } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createChatUser, type ChatUser } from '../support/chat-client.ts'
import { backEnds, openPlatform, type DeployedBot, type Platform } from '../support/platform.ts'

const sockets: WebSocket[] = []
afterEach(() => {
  vi.useRealTimers()
  for (const socket of sockets.splice(0)) socket.terminate()
})

function addressOf(bot: DeployedBot, key: string, conversationId: string): string {
  const path = `conversations/${conversationId}/listen?x-user-key=${encodeURIComponent(key)}`
  return `${bot.chatUrl.replace('http', 'ws')}/${path}`
}

/** An open WebSocket, and the text frames that have come over it. */
async function connect(bot: DeployedBot, chatUser: ChatUser, conversationId: string) {
  const socket = new WebSocket(addressOf(bot, chatUser.key, conversationId))
  sockets.push(socket)
  const lines: string[] = []
  socket.on('message', (data: Buffer, isBinary) => lines.push(isBinary ? 'binary' : data.toString()))
  await once(socket, 'open')
  return { socket, lines: () => lines, frames: () => lines.map((line) => JSON.parse(line)) }
}

/** Asks for a WebSocket and says how that was refused. */
async function refusal(url: string): Promise<{ status: number; body: unknown }> {
  const socket = new WebSocket(url)
  const [, response] = (await once(socket, 'unexpected-response')) as [
    unknown,
    AsyncIterable<Buffer> & { statusCode: number },
  ]
  const chunks = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode, body: JSON.parse(Buffer.concat(chunks).toString()) }
}

describe.each(backEnds)('a WebSocket on %s', (backEnd) => {
  let platform: Platform
  let bot: DeployedBot
  let alice: ChatUser
  beforeAll(async () => {
    platform = await openPlatform({ backEnd, worker: false })
    bot = await platform.createBot()
    alice = await createChatUser(bot.chatUrl, { id: 'alice' })
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  test('receives in text frames the same as a stream of server-sent events, messages sent just before included', async () => {
    const conversationId = await alice.createConversation('with/slash')
    const first = (await alice.send(conversationId, 'just before')).body.message
    const { frames } = await connect(bot, alice, conversationId)
    const second = (await alice.send(conversationId, 'now')).body.message
    const { event } = (await alice.ask('POST', '/events', { conversationId, payload: { any: 1 } })).body
    await expect.poll(frames).toHaveLength(3)
    expect(frames()).toEqual([
      { type: 'message_created', data: { ...first, isBot: false } },
      { type: 'message_created', data: { ...second, isBot: false } },
      { type: 'event_created', data: { ...event, isBot: false } },
    ])
  })

  test('is pinged with a text message every 25 seconds', async () => {
    const conversationId = await alice.createConversation()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const { lines } = await connect(bot, alice, conversationId)
    vi.advanceTimersByTime(25_000)
    vi.useRealTimers()
    await expect.poll(lines).toEqual(['ping'])
  })

  test('of a user who is removed from the conversation is closed, and the owner’s receives the removal', async () => {
    const bob = await createChatUser(bot.chatUrl, { id: 'bob' })
    const conversationId = await alice.createConversation()
    await alice.ask('POST', `/conversations/${conversationId}/participants`, { userId: 'bob' })
    const [his, hers] = [await connect(bot, bob, conversationId), await connect(bot, alice, conversationId)]
    const closed = once(his.socket, 'close')
    await alice.ask('DELETE', `/conversations/${conversationId}/participants/bob`)
    await closed
    expect(his.lines()).toEqual([])
    const data = { conversationId, participantId: 'bob' }
    await expect.poll(hers.frames).toEqual([{ type: 'participant_removed', data }])
  })
})

describe('a WebSocket', () => {
  let platform: Platform
  let bot: DeployedBot
  let alice: ChatUser
  beforeAll(async () => {
    platform = await openPlatform({ worker: false, environment: { CHAT_RATE_LIMIT_USER: '50' } })
    bot = await platform.createBot()
    alice = await createChatUser(bot.chatUrl)
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  test('is refused before the upgrade: 401 without a key that counts, 403 for who takes no part', async () => {
    const conversationId = await alice.createConversation()
    const mallory = await createChatUser(bot.chatUrl)
    const withoutKey = `${bot.chatUrl.replace('http', 'ws')}/conversations/${conversationId}/listen`
    expect(await refusal(withoutKey)).toMatchObject({
      status: 401,
      body: { type: 'Unauthorized', id: expect.any(String) },
    })
    expect(await refusal(addressOf(bot, 'forged', conversationId))).toMatchObject({ status: 401 })
    expect(await refusal(addressOf(bot, mallory.key, conversationId))).toMatchObject({ status: 403 })
    expect(await refusal(addressOf(bot, alice.key, 'conv_unknown'))).toMatchObject({ status: 403 })
    expect(await refusal(`${platform.url.replace('http', 'ws')}/nowhere`)).toMatchObject({ status: 404 })
  })

  test('takes the key from the header of a program, also where the query has another one', async () => {
    const conversationId = await alice.createConversation()
    const address = `${bot.chatUrl.replace('http', 'ws')}/conversations/${conversationId}/listen`
    const socket = new WebSocket(`${address}?x-user-key=forged`, { headers: { 'x-user-key': alice.key } })
    sockets.push(socket)
    const opened = once(socket, 'open')
    const frame = once(socket, 'message') as Promise<[Buffer]>
    await opened
    await alice.send(conversationId, 'hello')
    expect((await frame)[0].toString()).toContain('hello')
  })

  test('is no way to call another operation', async () => {
    const victim = await createChatUser(bot.chatUrl)
    const { pathname, hostname, port } = new URL(bot.chatUrl)
    const attack = request({
      hostname,
      port,
      method: 'DELETE',
      path: `${pathname}/users/me?x-user-key=${victim.key}`,
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'x'.repeat(22) + '==',
      },
    }).end()
    const [response] = (await once(attack, 'response')) as [{ statusCode: number; resume(): void }]
    response.resume()
    expect(response.statusCode).toBe(400)
    expect(await victim.ask('GET', '/users/me')).toMatchObject({ status: 200 })
  })

  test('another protocol that a client would like is no reason not to answer', async () => {
    const { pathname, hostname, port } = new URL(bot.chatUrl)
    const asking = request({
      hostname,
      port,
      path: `${pathname}/hello`,
      headers: { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQCAAAAAAIAAAAA' },
    }).end()
    const [response] = (await once(asking, 'response')) as [{ statusCode: number; resume(): void }]
    response.resume()
    expect(response.statusCode).toBe(200)
  })

  test('counts as a request of its user', async () => {
    const busy = await createChatUser(bot.chatUrl)
    const conversationId = await busy.createConversation()
    await Promise.all(Array.from({ length: 49 }, () => busy.ask('GET', '/users/me')))
    expect(await refusal(addressOf(bot, busy.key, conversationId))).toMatchObject({ status: 429 })
  })

  test('that sends much is hung up on', async () => {
    const { socket } = await connect(bot, alice, await alice.createConversation())
    const closed = once(socket, 'close')
    socket.send('x'.repeat(100_000))
    expect(await closed).toMatchObject([1009, expect.anything()])
  })

  test('is closed with a request to reconnect when the api stops', async () => {
    const stopping = await openPlatform({ worker: false })
    const itsBot = await stopping.createBot()
    const bob = await createChatUser(itsBot.chatUrl)
    const { socket } = await connect(itsBot, bob, await bob.createConversation())
    const closed = once(socket, 'close')
    await stopping[Symbol.asyncDispose]()
    expect(await closed).toMatchObject([1001, expect.anything()])
  })
})

import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openOverload } from '../../api/overload.ts'
import { freePort } from '../../cli/postgres/free-port.ts'
import { createChatUser, type ChatUser } from '../support/chat-client.ts'
import { openPlatform, send, type DeployedBot, type Platform } from '../support/platform.ts'
import { startProcess } from '../support/processes.ts'
import { megabyte } from '#shared/units.ts'

const overloaded = {
  status: 503,
  body: { code: 503, type: 'Internal', message: expect.stringContaining('overloaded') },
}

/** Begins a request and does not end it. */
async function begin(
  url: string,
  path: string,
  headers: Record<string, string | number>,
  part: string,
): Promise<Socket> {
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(headOf('POST', path, headers) + part)
  return socket
}

function headOf(method: string, path: string, headers: Record<string, string | number>): string {
  const lines = Object.entries({ host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

describe('an api that may have three requests under way', () => {
  let platform: Platform
  let bot: DeployedBot
  let chatUser: ChatUser
  beforeAll(async () => {
    platform = await openPlatform({ worker: false, environment: { API_REQUESTS: '3' } })
    bot = await platform.createBot()
    chatUser = await createChatUser(bot.chatUrl)
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  test('refuses further ones at once with Retry-After; its health is reported in any case', async () => {
    const { pathname } = new URL(bot.chatUrl)
    const sockets: Socket[] = []
    // On a machine that is busy with other things, one of them may be refused for another reason.
    const beginMore = async () => {
      const open = [1, 2, 3].map(() => begin(platform.url, `${pathname}/users`, { 'content-length': 10 }, '{'))
      sockets.push(...(await Promise.all(open)))
    }
    const hello = () => send('GET', `${bot.chatUrl}/hello`)
    try {
      await expect.poll(() => beginMore().then(hello), { interval: 500, timeout: 20_000 }).toMatchObject(overloaded)
      expect(Number((await hello()).headers.get('retry-after'))).toBeGreaterThan(0)
      expect(await send('GET', `${platform.url}/healthz`)).toMatchObject({ status: 200 })
      expect(await send('GET', `${platform.url}/readyz`)).toMatchObject({ status: 200 })
    } finally {
      for (const socket of sockets) socket.destroy()
    }
    await expect.poll(hello, { interval: 20, timeout: 20_000 }).toMatchObject({ status: 200 })
  })

  test('may have any number of streams open', async () => {
    const conversationId = await chatUser.createConversation()
    const stopping = new AbortController()
    for (let count = 0; count < 6; count++) {
      const stream = await fetch(`${bot.chatUrl}/conversations/${conversationId}/listen`, {
        headers: { 'x-user-key': chatUser.key },
        signal: stopping.signal,
      })
      expect(stream.status).toBe(200)
    }
    expect((await chatUser.send(conversationId, 'hello')).status).toBe(201)
    stopping.abort()
  })
})

test('an api that is late at everything refuses what comes, until it has caught up', async () => {
  await using platform = await openPlatform({ worker: false })
  const { config, log } = platform.context
  const overload = openOverload({ config: { ...config, overload: { ...config.overload, delayMilliseconds: 50 } }, log })
  const request = { headers: {} } as Parameters<typeof overload.enter>[0]
  const enter = () => overload.enter(request)[Symbol.dispose]()
  try {
    expect(enter).not.toThrow()
    const end = performance.now() + 3500
    while (performance.now() < end) {
      const endOfTurn = performance.now() + 120
      while (performance.now() < endOfTurn);
      await turn()
    }
    expect(enter).toThrow('overloaded')
    await expect.poll(() => enter(), { timeout: 10_000 }).toBeUndefined()
  } finally {
    overload.close()
  }
})

const connections = 600

test('hundreds of connections with a megabyte each: memory stays bounded, and all are answered', async () => {
  await using platform = await openPlatform({ worker: false })
  const bot = await platform.createBot()
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const api = await startProcess(platform, 'api', { PORT: String(port), CHAT_RATE_LIMIT_USER: '0' })
  try {
    const health = () => send('GET', `${url}/healthz`).catch(() => ({ status: 0 }))
    await expect.poll(health, { timeout: 50_000 }).toMatchObject({ status: 200 })
    const quietMegabytes = await peakMegabytes(api.pid)

    const text = 'x'.repeat(megabyte - 1000)
    const body = Buffer.from(JSON.stringify({ conversationId, payload: { type: 'text', text } }))
    const head = Buffer.from(
      headOf('POST', `/chat/${bot.webhookId}/messages`, {
        'x-user-key': chatUser.key,
        'content-length': body.length,
      }),
    )
    const answers = Promise.all(Array.from({ length: connections }, () => post(port, head, body)))
    expect(await health()).toMatchObject({ status: 200 })
    const statuses = await answers
    const accepted = statuses.filter((status) => status === 201).length
    const refused = statuses.filter((status) => status === 503).length
    expect({ accepted: accepted > 10, all: accepted + refused }).toEqual({ accepted: true, all: connections })
    // Of the 600 MB that were sent; what is held is there as bytes, as text, parsed, and as text once more.
    expect((await peakMegabytes(api.pid)) - quietMegabytes).toBeLessThan(350)
    expect(await send('GET', `${url}/chat/${bot.webhookId}/hello`)).toMatchObject({ status: 200 })
    // Accepted messages are stored.
    const { length } = await platform.context.db('messages').where({ conversation_id: conversationId }).select('id')
    expect(length).toBeGreaterThanOrEqual(accepted)
  } finally {
    await api.stop()
  }
}, 120_000)

/** Sends a request over a connection of its own; gives the status of the answer, or 0 when there was none. */
async function post(port: number, head: Buffer, body: Buffer): Promise<number> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(head)
  socket.write(body)
  const answer = await new Promise<string>((resolve) => {
    let received = ''
    socket.setEncoding('latin1').on('data', (part: string) => {
      received += part
      if (received.includes('\r\n')) resolve(received)
    })
    socket.once('close', () => resolve(received))
  })
  socket.destroy()
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)
}

async function peakMegabytes(pid: number): Promise<number> {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}

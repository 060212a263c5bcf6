import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChatUser } from '../support/chat-client.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { megabyte } from '#shared/units.ts'

const run = promisify(execFile)

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
})
afterAll(() => platform[Symbol.asyncDispose]())

const tooLarge = { status: 413, body: { code: 413, type: 'PayloadTooLarge' } }

describe('a body', () => {
  test('of the chat interface may have one megabyte and no more', async () => {
    const bot = await platform.createBot()
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    expect((await chatUser.send(conversationId, 'x'.repeat(megabyte - 200))).status).toBe(201)
    expect(await chatUser.send(conversationId, 'x'.repeat(megabyte))).toMatchObject(tooLarge)
  })

  test('of the runtime interface may have one megabyte and no more', async () => {
    const { id } = await platform.createBot()
    const event = (length: number) =>
      platform.ask(
        'POST',
        '/v1/chat/events',
        { type: 'big', payload: { text: 'x'.repeat(length) } },
        { 'x-bot-id': id },
      )
    expect((await event(megabyte - 200)).status).toBe(201)
    expect(await event(megabyte)).toMatchObject(tooLarge)
  })

  test('of the admin interface may have fifty megabytes and no more', async () => {
    expect((await createWithIgnoredText(50 * megabyte - 200)).status).toBe(200)
    expect(await createWithIgnoredText(50 * megabyte)).toMatchObject(tooLarge)
  })

  test.each([
    ['UTF-8', 'application/json', Buffer.from('{"payload":{"type":"text","text":"h\xe9llo"}', 'latin1')],
    [
      'UTF-16LE',
      'application/json; charset=utf-16le',
      Buffer.from('{"payload":{"type":"text","text":"\ud800"}', 'utf16le'),
    ],
  ])('with bytes that %s does not have is refused, and stores no other text', async (encoding, type, begin) => {
    const { chatUrl } = await platform.createBot()
    const chatUser = await createChatUser(chatUrl)
    const conversationId = await chatUser.createConversation()
    const end = Buffer.from(`,"conversationId":"${conversationId}"}`, encoding === 'UTF-8' ? 'utf8' : 'utf16le')
    const answer = await fetch(`${chatUrl}/messages`, {
      method: 'POST',
      headers: { 'x-user-key': chatUser.key, 'content-type': type },
      body: Buffer.concat([begin, end]),
    })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({
      type: 'InvalidPayload',
      message: `The body is not valid ${encoding}: send JSON in UTF-8`,
    })
    expect((await chatUser.ask('GET', `/conversations/${conversationId}/messages`)).body.messages).toEqual([])
  })

  test('of unknown length is refused as soon as it is too long', async () => {
    const { status, text: body } = await stream('/v1/admin/bots', 60, {
      authorization: `Bearer ${platform.token}`,
      'x-workspace-id': platform.workspaceId,
    })
    expect(status).toBe(413)
    expect(JSON.parse(body)).toMatchObject({ code: 413, type: 'PayloadTooLarge' })
  })

  test('that announces more than the limit is refused, and the client that still sends it reads why', async () => {
    // In a process of its own the client writes while the api answers.
    const client = `
      const [url, headers] = JSON.parse(process.argv[1])
      const body = 'x'.repeat(${60 * megabyte})
      for (let attempt = 0; attempt < 4; attempt++) {
        const outcome = await fetch(url, { method: 'POST', headers, body }).then((answer) => answer.json(), (error) => error.cause)
        console.log(outcome.type ?? outcome.code)
      }`
    const headers = { authorization: `Bearer ${platform.token}`, 'x-workspace-id': platform.workspaceId }
    const given = JSON.stringify([`${platform.url}/v1/admin/bots`, headers])
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', client, given])
    expect(stdout.trim().split('\n')).toEqual(Array.from({ length: 4 }, () => 'PayloadTooLarge'))
  })

  test('that is refused and never ends, is given up with its connection', async () => {
    const outgoing = request(`${platform.url}/v1/admin/bots`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${platform.token}`,
        'x-workspace-id': platform.workspaceId,
        'content-length': String(60 * megabyte),
      },
    })
    const ended = new Promise((resolve) => outgoing.once('close', resolve))
    outgoing.on('error', () => {}).flushHeaders()
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(413)
    response.on('error', () => {}).resume()
    await ended
  })

  test('of a stranger is not read at all', async () => {
    const { status, sent } = await stream('/v1/admin/bots', 60, {})
    expect(status).toBe(401)
    expect(sent).toBeLessThan(60 * megabyte)
  })

  test('in an unknown encoding is refused as such', async () => {
    const answer = await platform.ask('POST', '/v1/admin/bots', {}, { 'content-encoding': 'rot13' })
    expect(answer).toMatchObject({ status: 415, body: { type: 'UnsupportedMediaType' } })
  })
})

/** Begins a request whose body inflates to so many megabytes, and has not ended. Tells what is answered, if anything. */
async function begin(workspaceId: string, megabytes: number) {
  const headers = { authorization: `Bearer ${platform.token}`, 'x-workspace-id': workspaceId }
  const outgoing = request(`${platform.url}/v1/admin/bots`, {
    method: 'POST',
    headers: { ...headers, 'content-encoding': 'gzip' },
  })
  let status: number | undefined
  outgoing.on('error', () => {})
  outgoing.on('response', (response: IncomingMessage) => (status = response.resume().statusCode))
  outgoing.write(gzipSync(Buffer.alloc(megabytes * megabyte, ' ')).subarray(0, -8))
  return {
    status: () => status,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => outgoing.once('close', resolve))
      if (outgoing.closed) return
      outgoing.destroy()
      await closed
    },
  }
}

async function createWorkspace(): Promise<string> {
  const { body } = await platform.ask('POST', '/v1/admin/workspaces', { name: 'Neighbour' })
  return body.id as string
}

describe('a body that is small on the wire and large in memory', () => {
  test('causes no refusal of another workspace, and takes no more than its share of its own', async () => {
    const [own, other] = [await createWorkspace(), await createWorkspace()]
    const bot = await platform.createBot()
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    await using one = await begin(own, 30)
    await using another = await begin(own, 30)
    const statuses = () => [one.status(), another.status()].filter((status) => status !== undefined)
    await expect.poll(statuses, { timeout: 20_000 }).toEqual([503])

    const texts = Array.from({ length: 8 }, () => chatUser.send(conversationId, 'x'.repeat(megabyte / 2)))
    expect((await Promise.all(texts)).map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201))
    const headers = { 'x-workspace-id': other }
    const upload = await platform.ask('POST', '/v1/admin/bots', { ignored: 'x'.repeat(8 * megabyte) }, headers)
    expect(upload.status).toBe(200)
    expect(statuses()).toEqual([503])
  })

  test('is refused as soon as it is too large, however small it came', async () => {
    await using bomb = await begin(platform.workspaceId, 52)
    await expect.poll(() => bomb.status(), { timeout: 20_000 }).toBe(413)
  })
})

function createWithIgnoredText(length: number) {
  return platform.ask('POST', '/v1/admin/bots', { ignored: 'x'.repeat(length) })
}

interface Streamed {
  status: number
  text: string
  /** How many bytes had left when the answer came. */
  sent: number
}

/** Sends megabytes in chunks until there is an answer or all are sent. */
async function stream(path: string, megabytes: number, headers: Record<string, string>): Promise<Streamed> {
  const outgoing = request(`${platform.url}${path}`, { method: 'POST', headers })
  let sent = 0
  const chunks = Readable.from(
    (function* () {
      for (; sent < megabytes * megabyte; sent += megabyte / 4) yield Buffer.alloc(megabyte / 4, ' ')
    })(),
  )
  // The answer may come, and the connection end, before all is sent.
  pipeline(chunks, outgoing).catch(() => {})
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  const reply = { status: response.statusCode ?? 0, text: await text(response), sent }
  outgoing.destroy()
  return reply
}

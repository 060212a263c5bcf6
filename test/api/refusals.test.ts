import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JobWorkerState } from '#shared/queue/job-worker.ts'
import { freePort } from '../../cli/postgres/free-port.ts'
import { createChatUser } from '../support/chat-client.ts'
import { installCode } from '../support/install-code.ts'
import { startMonitoringServer } from '../../worker/metrics/monitoring-server.ts'
import { openPlatform, send, type DeployedBot, type Platform } from '../support/platform.ts'

const metricsToken = 'the-token-of-the-figures-in-tests'

let platform: Platform
let bot: DeployedBot
beforeAll(async () => {
  platform = await openPlatform({
    environment: { METRICS_TOKEN: metricsToken, METRICS_PORT: String(await freePort()) },
  })
  bot = await platform.createBot()
})
afterAll(() => platform[Symbol.asyncDispose]())

/** Sends bytes as they are; gives all that is answered until the connection ends. */
async function exchange(bytes: string, port = Number(new URL(platform.url).port)): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  socket.on('error', () => {})
  let received = ''
  socket.on('data', (part: string) => (received += part))
  socket.write(bytes)
  await once(socket, 'close')
  return received
}

const errorBody = (status: number) => ({
  id: expect.stringMatching(/^err_/),
  code: status,
  type: expect.any(String),
  message: expect.any(String),
})

/** The last answer of an exchange. */
function lastOf(received: string): { status: number; head: string; text: string } {
  const [head = '', text = ''] = received.slice(received.lastIndexOf('HTTP/1.1 ')).split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), head, text }
}

/** The properties of an error that an answer lacks. */
function faultsOf({ status, head, text }: ReturnType<typeof lastOf>, method: string): string[] {
  if (status < 400) return []
  if (!/content-type: application\/json/i.test(head)) return ['its type']
  if (method === 'HEAD') return text === '' ? [] : ['no body']
  const body = JSON.parse(text) as Record<string, unknown>
  return ['id', 'code', 'type', 'message'].filter((field) => !body[field])
}

const host = 'Host: x\r\n'
const closing = `${host}Connection: close\r\n`
const upgrading = `${host}Connection: Upgrade\r\nUpgrade: websocket\r\n`
const long = 'x'.repeat(20_000)

describe('an invalid request is refused with the body of every error:', () => {
  test.for<[what: string, status: number, bytes: string]>([
    ['garbage', 400, 'garbage\r\n\r\n'],
    ['TLS', 400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc'],
    ['a newline in a header’s name', 400, `GET /healthz HTTP/1.1\r\n${host}bad name: x\r\n\r\n`],
    ['no host', 400, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['two lengths', 400, `POST /v1/admin/bots HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`],
    [
      'a length and chunks',
      400,
      `POST /v1/admin/bots HTTP/1.1\r\n${host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
    ],
    ['headers that are too long', 431, `GET /healthz HTTP/1.1\r\n${host}x-long: ${long}\r\n\r\n`],
    ['an address that is too long', 414, `GET /${long}`],
    ['an unknown expectation', 417, `GET /healthz HTTP/1.1\r\n${closing}Expect: the-unexpected\r\n\r\n`],
    ['a tunnel', 405, `CONNECT localhost:1 HTTP/1.1\r\n${host}\r\n`],
    ['an unknown path', 404, `GET /nothing HTTP/1.1\r\n${closing}\r\n`],
    ['no path', 404, `OPTIONS * HTTP/1.1\r\n${closing}\r\n`],
    ['an address that is none', 400, `GET http://[ HTTP/1.1\r\n${closing}\r\n`],
    ['a method that is none of the path’s', 405, `DELETE /v1/admin/bots HTTP/1.1\r\n${closing}\r\n`],
    ['a WebSocket at an unknown path', 404, `GET /nothing HTTP/1.1\r\n${upgrading}\r\n`],
    ['a WebSocket where there is none', 400, `GET /v1/admin/bots HTTP/1.1\r\n${upgrading}\r\n`],
    ['a range that no file has', 416, `GET /docs/page.js HTTP/1.1\r\n${closing}Range: bytes=9999999-\r\n\r\n`],
    ['a condition that no file meets', 412, `GET /docs HTTP/1.1\r\n${closing}If-Match: "other"\r\n\r\n`],
    ['garbage after a request', 400, `GET /healthz HTTP/1.1\r\n${host}\r\ngarbage\r\n\r\n`],
  ])('%s', async ([, status, bytes]) => {
    const answer = lastOf(await exchange(bytes))
    expect(answer.status).toBe(status)
    expect(answer.head.toLowerCase()).toContain('content-type: application/json')
    expect(JSON.parse(answer.text)).toMatchObject(errorBody(status))
  })

  test.for(['GET', 'HEAD', 'POST', 'DELETE', 'PATCH', 'OPTIONS'])(
    'a malformed percent-encoding, wherever it is, with %s',
    async (method) => {
      const paths = [
        '/console/%zz',
        '/console/assets/%zz',
        '/console/%',
        '/docs/%zz',
        '/%zz',
        '/readyz/%zz',
        '/metrics/%zz',
        '/openapi.json/%zz',
        `/chat/%zz/openapi.json`,
        `/chat/%zz/hello`,
        `/chat/${bot.webhookId}/users/%zz`,
        '/v1/chat/users/%zz',
        '/v1/admin/bots/%c3%28',
        '/webhooks/%zz',
        '/webhooks/%c3%28/path',
      ]
      for (const path of paths) {
        const answer = lastOf(await exchange(`${method} ${path} HTTP/1.1\r\n${closing}Content-Length: 0\r\n\r\n`))
        expect({ path, status: answer.status }).toEqual({ path, status: expect.toSatisfy((s) => s >= 200 && s < 500) })
        expect({ path, faults: faultsOf(answer, method) }).toEqual({ path, faults: [] })
      }
    },
  )

  test('garbage among the chunks of a body, which ends that request', async () => {
    const { key } = await createChatUser(bot.chatUrl)
    const path = `/chat/${bot.webhookId}/conversations`
    const head = `POST ${path} HTTP/1.1\r\n${host}x-user-key: ${key}\r\nTransfer-Encoding: chunked\r\n\r\n`
    const received = await exchange(`${head}2\r\n{"\r\nzz\r\n`)
    expect(received.match(/HTTP\/1\.1 /g)).toHaveLength(1)
    expect(JSON.parse(lastOf(received).text)).toMatchObject(errorBody(400))
  })

  test('garbage after a request that is still being answered, after that answer', async () => {
    const received = await exchange(
      `GET /readyz HTTP/1.1\r\n${host}\r\nGET /readyz HTTP/1.1\r\n${host}\r\ngarbage\r\n\r\n`,
    )
    expect([...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '200', '400'])
  })

  test('a WebSocket without what belongs to one', async () => {
    const { key, createConversation } = await createChatUser(bot.chatUrl)
    const conversationId = await createConversation()
    const path = `/chat/${bot.webhookId}/conversations/${conversationId}/listen?x-user-key=${key}`
    const answer = lastOf(await exchange(`GET ${path} HTTP/1.1\r\n${upgrading}\r\n`))
    expect(answer.head.toLowerCase()).toContain('sec-websocket-version: 13')
    expect(JSON.parse(answer.text)).toMatchObject(errorBody(400))
  })

  test('a worker is not ready before it takes jobs', async () => {
    let queueState: JobWorkerState = 'starting'
    await using _ = await startMonitoringServer(platform.context, () => queueState)
    const readyz = async () => {
      const response = await fetch(`http://127.0.0.1:${platform.context.config.workerPort}/readyz`)
      return { code: response.status, ...((await response.json()) as object) }
    }
    expect(await readyz()).toMatchObject({ code: 503, status: 'starting', database: 'ok', queue: 'starting' })
    queueState = 'ok'
    expect(await readyz()).toMatchObject({ code: 200, status: 'ok', queue: 'ok' })
    queueState = 'unavailable'
    expect(await readyz()).toMatchObject({ code: 503, status: 'unavailable', database: 'ok', queue: 'unavailable' })
  })

  test('the same at a worker’s metrics endpoint', async () => {
    await using _ = await startMonitoringServer(platform.context, () => 'ok')
    const { workerPort } = platform.context.config
    const requests: [bytes: string, status: number][] = [
      ['garbage\r\n\r\n', 400],
      [`GET /metrics HTTP/1.1\r\n${host}x-long: ${long}\r\n\r\n`, 431],
      [`GET /metrics HTTP/1.1\r\n${closing}\r\n`, 401],
      ['GET /%zz HTTP/1.1\r\nConnection: close\r\n\r\n', 404],
    ]
    for (const [bytes, status] of requests) {
      const answer = lastOf(await exchange(bytes, workerPort))
      expect(JSON.parse(answer.text)).toMatchObject(errorBody(status))
    }
  })
})

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

describe('a body that is nested too deep', () => {
  test.for([501, 5000, 200_000])(
    '%d times is refused in every interface, with an Idempotency-Key and without',
    async (depth) => {
      const { id } = bot
      const { key } = await createChatUser(bot.chatUrl)
      const refused = { status: 400, body: { ...errorBody(400), message: expect.stringContaining('nested') } }
      for (const name of ['idempotency-key', 'x-other']) {
        const headers = { [name]: 'a-key-of-more-than-twenty-characters' }
        const body = `{"payload":${nested(depth)},"profile":${nested(depth)}}`
        expect(await send('POST', `${bot.chatUrl}/users`, body, headers)).toMatchObject(refused)
        expect(await send('POST', `${bot.chatUrl}/messages`, body, { ...headers, 'x-user-key': key })).toMatchObject(
          refused,
        )
        expect(await platform.ask('POST', '/v1/chat/events', body, { ...headers, 'x-bot-id': id })).toMatchObject(
          refused,
        )
        expect(await platform.ask('PUT', `/v1/admin/bots/${id}`, body, headers)).toMatchObject(refused)
      }
    },
  )

  test('450 times goes all the way to the bot and back', async () => {
    const { id } = await platform.createBot('export const actions = { echo: ({ input }) => input }')
    const body = `{"type":"echo","input":{"deep":${nested(450)}}}`
    const headers = { 'x-bot-id': id, 'idempotency-key': 'deep' }
    const answer = await platform.ask('POST', '/v1/chat/actions', body, headers)
    expect(JSON.stringify(answer.body.output)).toBe(`{"deep":${nested(450)}}`)
  })

  test('and what an integration answers may be no deeper than the sandbox passes on', async () => {
    const { webhookUrl } = await installCode(
      platform,
      bot.id,
      `export function handler() { let deep = []; for (let i = 0; i < 5000; i++) deep = [deep]; return { body: deep } }`,
    )
    const response = await fetch(webhookUrl)
    expect(await response.json()).toMatchObject({
      type: 'Internal',
      message: expect.stringContaining('did not answer'),
    })
    expect((await send('GET', `${platform.url}/healthz`)).status).toBe(200)
  })
})

test('a body of more values than are good for memory is refused before it is parsed', async () => {
  const body = `{"a":[${'[],'.repeat(2_100_000)}0]}`
  const answer = await platform.ask('POST', '/v1/admin/bots', body)
  expect(answer).toMatchObject({
    status: 413,
    body: { type: 'PayloadTooLarge', message: expect.stringContaining('values') },
  })
})

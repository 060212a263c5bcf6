import { once } from 'node:events'
import { request, type IncomingMessage, type RequestOptions } from 'node:http'
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { deleteOldBodies, readBodyParts } from '#shared/store/webhook-bodies.ts'
import { installCode, logOf } from '../../support/install-code.ts'
import { installIntegration, storeIntegration } from '../../support/install-integration.ts'
import { endedEvents } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { megabyte } from '#shared/units.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ environment: { WORKER_SWEEP_SECONDS: '1' } })
})
afterAll(() => platform[Symbol.asyncDispose]())

/** Installs an integration whose handler has this body, on a bot of its own. */
async function install(handler: string) {
  const { id: botId } = await platform.createBot()
  const code = `export async function handler({ request, client, logger, ctx }) { ${handler} }`
  return { botId, ...(await installCode(platform, botId, code)) }
}

const echo = 'return { body: request }'

describe('a request to a webhook', () => {
  test('reaches the integration whole, and is answered with what it returns', async () => {
    const { webhookUrl } = await install(`
      return { status: 207, headers: { 'X-Kind': 'odd', 'content-type': 'application/test' }, body: JSON.stringify(request) }`)
    const response = await fetch(`${webhookUrl}/oauth/call%20back/?code=a%2Bb&code=2`, {
      method: 'PATCH',
      headers: { 'X-Signature': 'abc', 'content-type': 'text/plain' },
      body: 'café ☕',
    })
    expect(response.status).toBe(207)
    expect(response.headers.get('x-kind')).toBe('odd')
    expect(response.headers.get('content-type')).toBe('application/test')
    expect(await response.json()).toMatchObject({
      method: 'PATCH',
      path: '/oauth/call%20back/',
      query: 'code=a%2Bb&code=2',
      headers: { 'x-signature': 'abc', 'content-type': 'text/plain' },
      body: 'café ☕',
    })
  })

  test('may have no path, query and body, and be answered with nothing', async () => {
    const { webhookUrl, botId } = await install('logger.info(request.path + "|" + request.query + "|" + request.body)')
    const response = await fetch(webhookUrl)
    expect([response.status, await response.text()]).toEqual([200, ''])
    expect(await logOf(platform, botId)).toContain('info /||undefined')
  })

  test('whose body is no text arrives in base64, and so may the answer leave', async () => {
    const { webhookUrl } = await install('return { body: request.body, isBase64: request.isBase64 }')
    const bytes = Buffer.from([0xff, 0x00, 0x80, 0x0a])
    const response = await fetch(webhookUrl, { method: 'POST', body: bytes })
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes)
  })

  test('may have a body of many parts, which are gone when it is answered', async () => {
    const { webhookUrl } = await install(`
      let sum = 0
      for (const character of request.body) sum = (sum * 31 + character.codePointAt(0)) >>> 0
      return { body: { sum } }`)
    const text = Array.from({ length: 300_000 }, (_, index) => `déjà vu ${index};`).join('')
    const response = await fetch(webhookUrl, { method: 'POST', body: text })
    let sum = 0
    for (const character of text) sum = (sum * 31 + character.codePointAt(0)!) >>> 0
    expect(await response.json()).toEqual({ sum })
    expect(await platform.context.db('webhook_bodies')).toEqual([])
  })

  test('that the code fails to answer is answered without its words, which are in the log', async () => {
    const { webhookUrl, botId } = await install(`throw new Error('secret reasons')`)
    const response = await fetch(webhookUrl, { method: 'POST', body: '{}' })
    expect(response.status).toBe(500)
    const body = await response.text()
    expect(JSON.parse(body)).toMatchObject({ code: 500, type: 'Internal', id: expect.stringMatching(/^err_/) })
    expect(body).not.toContain('secret reasons')
    expect(await logOf(platform, botId)).toContainEqual(expect.stringContaining('error Error: secret reasons'))
  })

  test.each([
    ['U+0000', String.raw`a\u0000`],
    ['half of a surrogate pair', String.raw`a\ud83d`],
  ])('that the code refuses with %s ends, and its answer has a replacement', async (_character, text) => {
    const { id: botId } = await platform.createBot()
    const { webhookUrl } = await installCode(
      platform,
      botId,
      `module.exports.handler = async ({ headers }) =>
        headers['x-bp-operation'] === 'webhook_received' ? { status: 400, body: '${text}' } : { status: 200 }`,
    )
    const response = await fetch(webhookUrl, { method: 'POST', body: '{}' })
    expect([response.status, await response.text()]).toEqual([400, 'a\uFFFD'])
    const events = await endedEvents(platform, botId, 2)
    expect(events.map(({ type, status, attempt }) => [type, status, attempt])).toContainEqual([
      'webhook_received',
      'failed',
      1,
    ])
  })

  test('does not bring the cookies of our address', async () => {
    const { webhookUrl } = await install(echo)
    const headers = { cookie: 'session=of-an-administrator', 'x-kind': 'odd' }
    const { headers: arrived } = (await (await fetch(webhookUrl, { headers })).json()) as { headers: object }
    expect(arrived).toMatchObject({ 'x-kind': 'odd' })
    expect(arrived).not.toHaveProperty('cookie')
  })

  test('is not answered with what browsers keep for our whole address', async () => {
    const kept =
      'Alt-Svc clear-site-data NEL report-to Reporting-Endpoints strict-transport-security set-cookie2 set-login ' +
      'service-worker-allowed use-as-dictionary origin-agent-cluster content-security-policy-report-only ' +
      'sec-session-registration secure-session-registration cross-origin-opener-policy proxy-authenticate http2-settings x-accel-redirect x-sendfile shared-storage-write'
    const passed = [
      'location',
      'www-authenticate',
      'access-control-allow-origin',
      'x-hook-secret',
      'webhook-allowed-rate',
    ]
    const { webhookUrl } = await install(`
      return { headers: Object.fromEntries(${JSON.stringify([...kept.split(' '), ...passed])}.map((name) => [name, 'x'])) }`)
    const response = await fetch(webhookUrl, { redirect: 'manual' })
    expect(response.status).toBe(200)
    expect(kept.split(' ').filter((name) => response.headers.has(name))).toEqual([])
    expect(passed.filter((name) => response.headers.get(name) === 'x')).toEqual(passed)
  })

  test.for([
    ['101 headers', 'Object.fromEntries(Array.from({ length: 101 }, (_, index) => ["x-" + index, "x"]))'],
    ['5,000 headers', 'Object.fromEntries(Array.from({ length: 5000 }, (_, index) => ["x-" + index, "x"]))'],
    ['9 KB of headers', '{ "x-long": "x".repeat(9000) }'],
  ])('is not answered with %s', async ([, headers]) => {
    const { webhookUrl } = await install(`return { headers: ${headers} }`)
    const response = await fetch(webhookUrl)
    expect(response.status).toBe(500)
    expect(await response.json()).toMatchObject({ type: 'Internal', message: expect.stringContaining('headers') })
  })

  test('is not answered with what concerns a connection, with cookies, or with pages of our origin', async () => {
    const { webhookUrl } = await install(`
      return {
        headers: {
          connection: 'x-private', 'x-private': '1', 'transfer-encoding': 'chunked', 'content-length': '5000',
          'set-cookie': 'a=b', 'bad name': 'x', 'x-bad': 'a\\r\\nb: c', 'content-type': 'text/html',
        },
        body: '<script>alert(1)</script>',
      }`)
    const response = await fetch(webhookUrl)
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('<script>alert(1)</script>')
    for (const name of ['x-private', 'set-cookie', 'x-bad', 'b']) expect(response.headers.has(name)).toBe(false)
    expect(response.headers.get('content-length')).not.toBe('5000')
    expect(response.headers.get('content-security-policy')).toMatch(/^sandbox (?!.*allow-same-origin)/)
  })

  test.for([
    ['a status that is none', 'return { status: 99 }'],
    ['something else', 'return "hello"'],
  ])('that the code answers with %s is a failure', async ([, handler]) => {
    const { webhookUrl } = await install(handler!)
    expect((await fetch(webhookUrl)).status).toBe(500)
  })
})

describe('a webhook that there is not', () => {
  const notFound = { code: 404, type: 'ResourceNotFound' }

  test('is refused from its removal on, of which this process has received no signal', async () => {
    const { webhookUrl, webhookId } = await install(echo)
    expect((await fetch(webhookUrl)).status).toBe(200)
    await platform.context.db('installations').where({ webhook_id: webhookId }).delete()
    const response = await fetch(webhookUrl, { method: 'POST', body: 'late' })
    expect(await response.json()).toMatchObject(notFound)
    expect(await platform.context.db('webhook_bodies')).toEqual([])
  })

  test('is refused: an unknown one, the chat’s, and a disabled one', async () => {
    const { webhookUrl, botId } = await install(echo)
    const bot = await platform.ask('GET', `/v1/admin/bots/${botId}`)
    const chat = bot.body.bot.integrations.chat.webhookId
    await platform.ask('PUT', `/v1/admin/bots/${botId}`, { integrations: { tool: { enabled: false } } })
    const urls = [`${platform.url}/webhooks/nobody`, `${platform.url}/webhooks`, `${platform.url}/webhooks/${chat}/x`]
    for (const url of [...urls, webhookUrl]) {
      const response = await fetch(url, { method: 'POST', body: 'x' })
      expect({ url, status: response.status }).toEqual({ url, status: 404 })
      expect(await response.json()).toMatchObject(notFound)
    }
  })
})

/** Sends a body until there is an answer. */
async function sendBody(url: string, bytes: number, options: RequestOptions) {
  const outgoing = request(url, { method: 'POST', ...options })
  let sent = 0
  const chunks = Readable.from(
    (function* () {
      for (; sent < bytes; sent += megabyte) yield Buffer.alloc(megabyte)
    })(),
  )
  // The answer may come, and the connection end, before all is sent.
  pipeline(chunks, outgoing).catch(() => {})
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  const reply = { status: response.statusCode, body: await json(response), sent }
  outgoing.destroy()
  return reply
}

const storedParts = () => platform.context.db('webhook_bodies').count()

describe('a body of more than 100 MB', () => {
  const tooLarge = { code: 413, type: 'PayloadTooLarge' }

  test('is refused before it is read, where its length is announced', async () => {
    const { webhookUrl } = await install(echo)
    const bytes = 101 * megabyte
    const reply = await sendBody(webhookUrl, bytes, { headers: { 'content-length': bytes } })
    expect(reply).toMatchObject({ status: 413, body: tooLarge })
    expect(reply.sent).toBeLessThan(bytes / 2)
  })

  test('is refused as soon as it is too long, and nothing of it is kept', async () => {
    const { webhookUrl, botId } = await install(echo)
    const reply = await sendBody(webhookUrl, 110 * megabyte, {})
    expect(reply).toMatchObject({ status: 413, body: tooLarge })
    expect(await storedParts()).toEqual([{ count: '0' }])
    expect(await platform.context.db('events').where({ bot_id: botId, type: 'webhook_received' })).toEqual([])
  }, 30_000)

  test('is not kept when its sender disconnects in the middle', async () => {
    const { webhookUrl } = await install(echo)
    const outgoing = request(webhookUrl, { method: 'POST' })
    outgoing.on('error', () => {})
    outgoing.write(Buffer.alloc(3 * megabyte))
    await expect.poll(storedParts).not.toEqual([{ count: '0' }])
    outgoing.destroy()
    await expect.poll(storedParts).toEqual([{ count: '0' }])
  })
})

test('a body that a crash has left behind is swept', async () => {
  const body = { event_id: newId('evt'), part: 0, bytes: Buffer.from('left') }
  await platform.context.db('webhook_bodies').insert({ ...body, created_at: new Date(Date.now() - 2 * 86_400_000) })
  await expect.poll(storedParts, { timeout: 10_000 }).toEqual([{ count: '0' }])
})

test('the body of a request that waits for longer than a day reaches the integration', async () => {
  await using idle = await openPlatform({ worker: false, environment: { SANDBOX_WALL_MS: '100' } })
  const { context } = idle
  const { id } = await idle.createBot()
  const installation = await installIntegration(idle, id, await storeIntegration(idle))
  const address = `${idle.url}/webhooks/${installation.webhook_id}`
  expect((await fetch(address, { method: 'POST', body: 'paid' })).status).toBe(504)
  await context.db('webhook_bodies').update({ created_at: context.db.raw(`now() - interval '2 days'`) })
  const [event] = await context.db('events').where({ bot_id: id })
  await deleteOldBodies(context.db)
  expect((await readBodyParts(context.db, event!.id)).toString()).toBe('paid')
  await context.db('events').where({ id: event!.id }).update({ status: 'processed', ended_at: context.db.fn.now() })
  await deleteOldBodies(context.db)
  expect(await context.db('webhook_bodies')).toEqual([])
}, 20_000)

test('an integration that does not answer in time is given up with 504, and its event goes on', async () => {
  await using idle = await openPlatform({ worker: false, environment: { SANDBOX_WALL_MS: '100' } })
  const { id } = await idle.createBot()
  const installation = await installIntegration(idle, id, await storeIntegration(idle))
  const response = await fetch(`${idle.url}/webhooks/${installation.webhook_id}`, { method: 'POST', body: '{}' })
  expect(response.status).toBe(504)
  expect(await response.json()).toMatchObject({ code: 504, type: 'OperationTimeout' })
  expect(await idle.context.db('events').where({ bot_id: id })).toMatchObject([{ status: 'pending' }])
}, 20_000)

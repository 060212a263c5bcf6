import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startWorker } from '../../worker/worker.ts'
import { installCode } from '../support/install-code.ts'
import { openPlatform, type Answer, type Platform } from '../support/platform.ts'

/** Requests of one bot that wait for answers of one kind. */
const most = 100

let platform: Platform
let bot: { id: string; webhookUrl: string }
let other: { id: string; webhookUrl: string }
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  await using worker = new AsyncDisposableStack()
  worker.use(await startWorker(platform.context))
  bot = await createBot()
  other = await createBot()
})
afterAll(() => platform[Symbol.asyncDispose]())

async function createBot() {
  const { id } = await platform.createBot('export const actions = { echo: ({ input }) => input }')
  const { webhookUrl } = await installCode(
    platform,
    id,
    'export const handler = ({ request }) => ({ body: request.body })',
  )
  return { id, webhookUrl }
}

beforeEach(() => platform.context.db('events').delete())

function countEvents(): Promise<number> {
  return platform.context
    .db('events')
    .where({ status: 'pending' })
    .count()
    .then(([row]) => Number(row!['count']))
}

/** Ends everything that waits, as a worker does. */
async function complete(): Promise<void> {
  const result = JSON.stringify({ body: 'handled' })
  await platform.context.db('events').where({ status: 'pending' }).update({ status: 'processed', result })
}

function isRefused(answer: { status: number; headers: Headers }, body: unknown): void {
  expect(answer.status).toBe(429)
  expect(answer.headers.get('retry-after')).toBe('1')
  expect(body).toMatchObject({ type: 'RateLimited', message: expect.stringMatching(/^100 .* wait for their answers/) })
}

test('a bot with a hundred waiting webhook requests refuses more before it reads them, and answers all it accepted', async () => {
  const accepted = Array.from({ length: most }, (_, index) =>
    fetch(bot.webhookUrl, { method: 'POST', body: String(index) }).then((response) => response.text()),
  )
  await expect.poll(countEvents, { timeout: 20_000 }).toBe(most)

  // It announces a body that it never sends.
  const unsent = httpRequest(bot.webhookUrl, { method: 'POST', headers: { 'content-length': '1000' } })
  unsent.flushHeaders()
  const [refused] = (await once(unsent, 'response')) as [IncomingMessage]
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '1'])
  unsent.destroy()
  const further = await fetch(bot.webhookUrl)
  isRefused(further, await further.json())
  expect(await countEvents()).toBe(most)

  const elsewhere = fetch(other.webhookUrl, { method: 'POST', body: 'other' }).then((response) => response.text())
  await expect.poll(countEvents).toBe(most + 1)
  const bodies = await platform.context.db('webhook_bodies').pluck('bytes')
  const sent = [...Array.from({ length: most }, (_, index) => String(index)), 'other']
  expect(bodies.map(String).toSorted()).toEqual(sent.toSorted())
  await complete()
  expect(new Set(await Promise.all([...accepted, elsewhere]))).toEqual(new Set(['handled']))
})

test('a bot with a hundred waiting calls of actions refuses more, over HTTP and over MCP', async () => {
  const call = (id: string, headers = {}): Promise<Answer> =>
    platform.ask('POST', '/v1/chat/actions', { type: 'echo', input: { said: 'hi' } }, { 'x-bot-id': id, ...headers })
  const accepted = Array.from({ length: most }, () => call(bot.id))
  await expect.poll(countEvents, { timeout: 20_000 }).toBe(most)
  const refused = await call(bot.id)
  isRefused(refused, refused.body)
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: {} } }
  const accept = { accept: 'application/json, text/event-stream' }
  const { body } = await platform.ask('POST', `/mcp/${bot.id}`, message, accept)
  expect(body.result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('wait for their answers') }],
  })
  expect(await countEvents()).toBe(most)

  const elsewhere = call(other.id)
  await expect.poll(countEvents).toBe(most + 1)
  await complete()
  const answers = await Promise.all([...accepted, elsewhere])
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
})

test('a repeated call that is refused because too many wait keeps the event of its first attempt', async () => {
  const key = { 'x-bot-id': bot.id, 'idempotency-key': randomUUID() }
  const call = (headers: object) =>
    platform.ask(
      'POST',
      '/v1/chat/actions',
      { type: 'echo', input: { said: 'once' } },
      { 'x-bot-id': bot.id, ...headers },
    )
  await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { limits: { wallMilliseconds: 100 } })
  // Nobody handles it in time.
  expect((await call(key)).status).toBe(504)
  await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { limits: { wallMilliseconds: 60_000 } })
  const others = Array.from({ length: most }, () => call({}))
  await expect.poll(countEvents, { timeout: 20_000 }).toBe(most + 1)
  expect((await call(key)).status).toBe(429)
  await complete()
  await Promise.all(others)
  expect((await call(key)).body).toEqual({ output: { body: 'handled' }, meta: { cached: false } })
  expect(await platform.context.db('events').where({ bot_id: bot.id }).count()).toEqual([{ count: String(most + 1) }])
})

test('a sender of a webhook that hangs up makes room for another, and its request is kept all the same', async () => {
  const hangUp = new AbortController()
  const accepted = Array.from({ length: most }, () =>
    fetch(bot.webhookUrl, { method: 'POST', body: 'gone', signal: hangUp.signal }).catch(() => undefined),
  )
  await expect.poll(countEvents, { timeout: 20_000 }).toBe(most)
  hangUp.abort()
  await Promise.all(accepted)
  const done = new AbortController()
  await expect
    .poll(() => {
      fetch(bot.webhookUrl, { method: 'POST', body: 'next', signal: done.signal }).catch(() => {})
      return countEvents()
    })
    .toBeGreaterThan(most)
  done.abort()
})

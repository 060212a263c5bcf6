import { Redis } from 'ioredis'
import { SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { readConfig } from '#shared/config/config.ts'
import { openContext } from '#shared/context.ts'
import { openDependencies } from '#shared/connectivity/dependencies.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { sharedEncryptionKey } from '#shared/secrets.ts'
import { openRateLimiter, type RateLimiter } from '../../api/rate-limit.ts'
import { startServer } from '../../api/server.ts'
import { createChatUser } from '../support/chat-client.ts'
import { backEnds, openPlatform, send, type Answer, type Platform } from '../support/platform.ts'
import { startRedis } from '../support/redis.ts'

const perUser = 3
const perInstallation = 12
const limits = { CHAT_RATE_LIMIT_USER: String(perUser), CHAT_RATE_LIMIT_INSTALLATION: String(perInstallation) }

let parts = new AsyncDisposableStack()
afterEach(async () => {
  vi.useRealTimers()
  await parts.disposeAsync()
  parts = new AsyncDisposableStack()
})

/** The limit as the headers of an answer state it. */
function limitIn({ headers }: Answer) {
  const number = (name: string) => Number(headers.get(name) ?? Number.NaN)
  return { limit: number('ratelimit-limit'), remaining: number('ratelimit-remaining') }
}

/** The same key in other letters: Base64 leaves bits unused at its end, and has other signs for two of its digits. */
function spellingsOf(key: string): string[] {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = digits.indexOf(key.at(-1)!)
  const otherEnds = [1, 2, 3].map((bits) => key.slice(0, -1) + digits[last ^ bits]!)
  const [header, payload, signature] = key.split('.') as [string, string, string]
  const otherSigns = [header, payload, signature.replaceAll('-', '+').replaceAll('_', '/')].join('.')
  return [...otherEnds, `${key}=`, otherSigns, `${otherSigns}=`]
}

/** Waits until requests are counted: a server connects to Redis while it begins to answer. */
async function untilCounting(url: string): Promise<void> {
  await vi.waitFor(
    async () => {
      expect((await send('GET', `${url}/chat/nobody/hello`)).headers.has('ratelimit-limit')).toBe(true)
    },
    { timeout: 20_000, interval: 20 },
  )
}

/** Another api server with the same environment. */
async function startAnother(platform: Platform): Promise<string> {
  const config = readConfig({ ...platform.environment, PORT: '0' })
  const context = parts.use(openContext(config, createLogger('test', config.logLevel)))
  const { port } = parts.use(await startServer(context))
  const url = `http://127.0.0.1:${port}`
  await untilCounting(url)
  return url
}

test.each(backEnds)('a token has a limit of its own on %s, and chats have none of it', async (backEnd) => {
  const platform = parts.use(await openPlatform({ backEnd, environment: { API_RATE_LIMIT_TOKEN: '4' }, worker: false }))
  const { chatUrl } = await platform.createBot()
  await vi.waitFor(
    async () => expect((await platform.ask('GET', '/v1/admin/bots')).headers.has('ratelimit-limit')).toBe(true),
    { timeout: 20_000, interval: 20 },
  )
  await expect.poll(async () => (await platform.ask('GET', '/v1/admin/bots')).status).toBe(429)
  const refused = await platform.ask('GET', '/v1/admin/bots')
  expect(refused).toMatchObject({ status: 429, body: { type: 'RateLimited' } })
  expect(refused.body.message).toContain('one token may send 4 per minute')
  expect(refused.headers.get('retry-after')).toBe(refused.headers.get('ratelimit-reset'))
  const other = { authorization: 'Bearer another-token' }
  expect((await platform.ask('GET', '/v1/admin/bots', undefined, other)).status).toBe(401)
  expect((await send('GET', `${chatUrl}/hello`)).status).toBe(200)
})

describe.each(backEnds)('the limits on %s', (backEnd) => {
  let platform: Platform
  beforeAll(async () => {
    platform = await openPlatform({ backEnd, worker: false, environment: limits })
    await untilCounting(platform.url)
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  test('are on every answer, with what is left and until when', async () => {
    const { chatUrl } = await platform.createBot()
    const ann = await createChatUser(chatUrl)
    for (const [path, status, remaining] of [
      ['/users/me', 200, 2],
      ['/conversations/nowhere', 404, 1],
      ['/no-such-path', 404, 0],
    ] as const) {
      const answer = await ann.ask('GET', path)
      expect(answer.status).toBe(status)
      expect(limitIn(answer)).toEqual({ limit: perUser, remaining })
      expect(answer.headers.get('ratelimit-policy')).toBe(`${perUser};w=60`)
      const reset = Number(answer.headers.get('ratelimit-reset'))
      expect(reset).toBeGreaterThan(0)
      expect(reset).toBeLessThanOrEqual(60)
      expect(answer.headers.has('retry-after')).toBe(false)
    }
    expect(limitIn(await send('GET', `${chatUrl}/hello`))).toMatchObject({ limit: perInstallation })
    expect(limitIn(await platform.ask('GET', '/v1/admin/bots')).limit).toBeNaN()
  })

  test('refuse a user’s request beyond the limit, and no request of another user', async () => {
    const { chatUrl } = await platform.createBot()
    const ann = await createChatUser(chatUrl)
    const ben = await createChatUser(chatUrl)
    for (let count = 0; count < perUser; count++) expect((await ann.ask('GET', '/users/me')).status).toBe(200)
    const refused = await ann.ask('GET', '/users/me')
    expect(refused).toMatchObject({ status: 429, body: { code: 429, type: 'RateLimited' } })
    expect(refused.body.id).toMatch(/^err_/)
    expect(limitIn(refused)).toEqual({ limit: perUser, remaining: 0 })
    expect(refused.headers.get('retry-after')).toBe(refused.headers.get('ratelimit-reset'))
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)

    expect((await ben.ask('GET', '/users/me')).status).toBe(200)
    // The same key is another user elsewhere, if any.
    const elsewhere = await platform.createBot()
    const answer = await send('GET', `${elsewhere.chatUrl}/users/me`, undefined, { 'x-user-key': ann.key })
    expect(answer.status).toBe(401)
    expect(limitIn(answer).remaining).toBe(perUser - 1)
  })

  test('count requests of the Converse API by the user in the path, in any spelling, and by the bot', async () => {
    const { id } = await platform.createBot()
    const ask = (userId: string, end = '') =>
      send('POST', `${platform.url}/api/v1/bots/${id}/converse/${userId}${end}`, {})
    const limits = []
    for (const [userId, end] of [
      ['ann', ''],
      ['%61nn', ''],
      ['ann', '/secured'],
      ['an%6E', '/'],
    ] as const) {
      limits.push((await ask(userId, end)).status === 429)
    }
    expect(limits).toEqual([false, false, false, true])
    for (let count = 0; count < perInstallation - perUser; count++) await ask(`user-${count}`)
    expect((await ask('last')).body.message).toContain('all users of this chat together')
    const { id: other } = await platform.createBot()
    expect((await send('POST', `${platform.url}/api/v1/bots/${other}/converse/ann`, {})).status).not.toBe(429)
  })

  test('know a user by any spelling of the key, and by any key that is the user’s', async () => {
    const { chatUrl, id: botId } = await platform.createBot()
    const row = (await platform.context.db('installations').where({ bot_id: botId }).first('id'))!
    const secret = sharedEncryptionKey(platform.context.config.secret.current, row.id)
    const [one, other] = await Promise.all(
      [1, 2].map((jti) =>
        new SignJWT({ id: 'ann', jti: String(jti) })
          .setProtectedHeader({ alg: 'HS256' })
          .sign(new TextEncoder().encode(secret)),
      ),
    )
    const bound = (await createChatUser(chatUrl, { id: 'ben' })).key
    for (const keys of [[one!, other!], [bound]]) {
      const asked = []
      for (const key of [...keys, ...keys.flatMap(spellingsOf)]) {
        asked.push(await send('POST', `${chatUrl}/users/get-or-create`, {}, { 'x-user-key': key }))
      }
      const taken = asked.filter(({ status }) => status === 201)
      expect(taken.length).toBeLessThanOrEqual(perUser)
      expect(asked.filter(({ status }) => status === 429).length).toBeGreaterThan(0)
    }
  })

  test('count all requests without a valid key as one client, which does not reduce the limits of others', async () => {
    const { chatUrl } = await platform.createBot()
    const ann = await createChatUser(chatUrl)
    const statuses = []
    for (let count = 0; count < perUser + perInstallation; count++) {
      statuses.push((await send('GET', `${chatUrl}/users/me`, undefined, { 'x-user-key': `invented ${count}` })).status)
    }
    expect(statuses).toEqual(statuses.map((_, index) => (index < perUser ? 401 : 429)))
    expect((await ann.ask('GET', '/users/me')).status).toBe(200)
  })

  test('refuse all of an installation when it has had enough, and no other', async () => {
    const { chatUrl } = await platform.createBot()
    const ann = await createChatUser(chatUrl)
    for (let count = 0; count < perUser; count++) await ann.ask('GET', '/users/me')
    for (let count = 1 + perUser; count < perInstallation; count++) {
      expect((await send('GET', `${chatUrl}/hello`)).status).toBe(200)
    }
    // Ann has had enough herself, too.
    const refused = await ann.ask('GET', '/users/me')
    expect(refused).toMatchObject({ status: 429, body: { type: 'RateLimited' } })
    expect(limitIn(refused)).toEqual({ limit: perInstallation, remaining: 0 })
    expect((await send('POST', `${chatUrl}/users`, {})).status).toBe(429)
    expect((await send('GET', `${(await platform.createBot()).chatUrl}/hello`)).status).toBe(200)
  })

  test('do not reduce the limits of others for a user who continues after a refusal', async () => {
    const { chatUrl } = await platform.createBot()
    const ann = await createChatUser(chatUrl)
    for (let count = 0; count < perUser + perInstallation; count++) await ann.ask('GET', '/users/me')
    const answer = await send('GET', `${chatUrl}/hello`)
    expect(answer.status).toBe(200)
    // Creating Ann, what she was answered, and this.
    expect(limitIn(answer).remaining).toBe(perInstallation - perUser - 2)
  })

  test('know an installation by any spelling of its address', async () => {
    const { webhookId } = await platform.createBot()
    const encoded = `%${webhookId.charCodeAt(0).toString(16)}${webhookId.slice(1)}`
    const remaining = []
    for (const path of [`/chat/${webhookId}/hello`, `/chat/${encoded}/hello`, `//chat//${webhookId}/hello/`]) {
      const answer = await send('GET', `${platform.url}${path}`)
      expect(answer.status).toBe(200)
      remaining.push(limitIn(answer).remaining)
    }
    expect(remaining).toEqual([11, 10, 9])
  })

  test('can be read by pages of other origins, which ask first for free', async () => {
    const { chatUrl } = await platform.createBot()
    const ann = await createChatUser(chatUrl)
    const origin = 'https://shop.example'
    for (let count = 0; count < perInstallation; count++) {
      const preflight = { origin, 'access-control-request-method': 'GET' }
      expect((await fetch(`${chatUrl}/users/me`, { method: 'OPTIONS', headers: preflight })).status).toBe(200)
    }
    for (let count = 0; count < perUser; count++) expect((await ann.ask('GET', '/users/me')).status).toBe(200)
    const refused = await send('GET', `${chatUrl}/users/me`, undefined, { origin, 'x-user-key': ann.key })
    expect(refused.status).toBe(429)
    expect(refused.headers.get('access-control-allow-origin')).toBe(origin)
    const exposed = refused.headers.get('access-control-expose-headers')?.split(',')
    for (const name of ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After']) {
      expect(exposed).toContain(name)
    }
  })

  test('hold for all api processes together, and without Redis for each of them', async () => {
    const { chatUrl } = await platform.createBot()
    const ann = await createChatUser(chatUrl)
    const otherUrl = chatUrl.replace(platform.url, await startAnother(platform))
    const remaining = []
    for (const url of [chatUrl, otherUrl, otherUrl]) {
      remaining.push(limitIn(await send('GET', `${url}/users/me`, undefined, { 'x-user-key': ann.key })).remaining)
    }
    expect(remaining).toEqual(backEnd === 'redis' ? [2, 1, 0] : [2, 2, 1])
  })
})

/** A limiter beside the one of the platform's server, as another door would use it. */
function openLimiter({ context }: Platform, user: number, installation: number): RateLimiter {
  const config = { ...context.config, chatRateLimits: { user, installation, visitor: 0 } }
  return parts.adopt(openRateLimiter({ ...context, config }), (limiter) => limiter.close())
}

test('requests of another entry point are counted with the rest', async () => {
  const platform = parts.use(await openPlatform({ worker: false, environment: limits }))
  await untilCounting(platform.url)
  const { chatUrl, webhookId } = await platform.createBot()
  const ann = await createChatUser(chatUrl)
  const limiter = openLimiter(platform, perUser, perInstallation)
  await expect.poll(async () => (await limiter.consume('nobody')).headers).toHaveProperty('RateLimit-Limit')
  for (let count = 0; count < perUser; count++) {
    expect((await limiter.consume(webhookId, ann.key)).refusal).toBeUndefined()
  }
  expect((await ann.ask('GET', '/users/me')).status).toBe(429)
  expect((await limiter.consume(webhookId, ann.key)).refusal).toMatchObject({ type: 'RateLimited', status: 429 })
})

test('a limit of 0 is none', async () => {
  const environment = { CHAT_RATE_LIMIT_USER: '0', CHAT_RATE_LIMIT_INSTALLATION: '0', WEBCHAT_RATE_LIMIT_VISITOR: '0' }
  const platform = parts.use(await openPlatform({ backEnd: 'postgres', worker: false, environment }))
  const answer = await send('GET', `${(await platform.createBot()).chatUrl}/hello`)
  expect(answer.status).toBe(200)
  expect(limitIn(answer).limit).toBeNaN()

  const noneForUsers = openLimiter(platform, 0, 2)
  expect((await noneForUsers.consume('chat', 'key')).headers).toMatchObject({ 'RateLimit-Limit': '2' })
  const onlyForUsers = openLimiter(platform, 2, 0)
  expect((await onlyForUsers.consume('chat')).headers).toEqual({})
  for (let count = 0; count < 2; count++) await onlyForUsers.consume('chat', 'key')
  expect((await onlyForUsers.consume('chat', 'key')).refusal).toBeDefined()
})

test('a limit holds for a minute', async () => {
  const platform = parts.use(await openPlatform({ backEnd: 'postgres', worker: false }))
  const limiter = openLimiter(platform, 1, 0)
  vi.useFakeTimers({ toFake: ['Date'] })
  const refused = async () => (await limiter.consume('chat', 'key')).refusal !== undefined
  expect([await refused(), await refused()]).toEqual([false, true])
  vi.setSystemTime(Date.now() + 59_000)
  expect(await refused()).toBe(true)
  vi.setSystemTime(Date.now() + 1000)
  expect(await refused()).toBe(false)
})

test('invented addresses and keys do not fill the memory of a process', async () => {
  const platform = parts.use(await openPlatform({ backEnd: 'postgres', worker: false }))
  const limiter = openLimiter(platform, 1, 1)
  const refused = async () => (await limiter.consume('chat')).refusal !== undefined
  expect([await refused(), await refused()]).toEqual([false, true])
  for (let count = 0; count < 49_000; count++) await limiter.consume(`invented ${count}`, 'key')
  expect(await refused()).toBe(true)
  for (let count = 49_000; count < 51_000; count++) await limiter.consume(`invented ${count}`, 'key')
  expect(await refused()).toBe(false)
})

/** Says hello many times, one after the other; gives the answers' status and what most of them took, in milliseconds. */
async function helloManyTimes(url: string): Promise<{ statuses: Set<number>; median: number }> {
  const statuses = new Set<number>()
  const waits: number[] = []
  for (let count = 0; count < 50; count++) {
    const begin = performance.now()
    statuses.add((await send('GET', url)).status)
    waits.push(performance.now() - begin)
  }
  return { statuses, median: waits.toSorted((one, other) => one - other)[25]! }
}

/** A limiter of one request, whose Redis is another than the platform's. */
function openLimiterOn(redisUrl: string, platform: Platform, log = platform.context.log): RateLimiter {
  const redis = { url: redisUrl, allowSelfSigned: false, prefix: 'isobot' }
  const config = { ...platform.context.config, redis }
  const dependencies = parts.use(openDependencies(config, platform.context.log))
  return openLimiter({ ...platform, context: { ...platform.context, config, dependencies, log } }, 1, 1)
}

async function untilRefusing(limiter: RateLimiter): Promise<void> {
  await expect
    .poll(async () => (await limiter.consume('chat')).refusal, { timeout: 20_000 })
    .toMatchObject({ type: 'RateLimited' })
}

describe('an unavailable Redis', () => {
  test('refuses and delays no request; when it is available again, requests are counted again', async () => {
    const redis = await startRedis()
    parts.defer(() => redis.stop())
    const environment = { ...limits, REDIS_URL: redis.url }
    const platform = parts.use(await openPlatform({ worker: false, environment }))
    await untilCounting(platform.url)
    const { chatUrl } = await platform.createBot()
    await redis.stop()
    await expect.poll(() => platform.context.dependencies.broker.isUp(), { timeout: 20_000 }).toBe(false)
    const logged = vi.spyOn(platform.context.log, 'error')

    const { statuses, median } = await helloManyTimes(`${chatUrl}/hello`)
    expect([...statuses]).toEqual([200])
    expect(median).toBeLessThan(200)
    // The work after a commit is missing, and the log has the outage instead of a line for each request.
    const ann = await createChatUser(chatUrl)
    const headers = { 'idempotency-key': 'one', 'x-user-key': ann.key }
    const message = { conversationId: await ann.createConversation(), payload: { type: 'text', text: 'hi' } }
    expect((await send('POST', `${chatUrl}/messages`, message, headers)).status).toBe(201)
    expect(logged.mock.calls.map(([, message]) => message)).not.toContainEqual(
      expect.stringContaining('after a commit'),
    )

    const again = await startRedis({ port: Number(new URL(redis.url).port) })
    parts.defer(() => again.stop())
    await untilCounting(platform.url)
  })

  test('may come later than the server, and is missed in the log once in a while', async () => {
    const redis = await startRedis()
    await redis.stop()
    const platform = parts.use(await openPlatform({ backEnd: 'postgres', worker: false }))
    const log = createLogger('test', 'silent')
    const warn = vi.spyOn(log, 'warn')
    const limiter = openLimiterOn(redis.url, platform, log)
    for (let count = 0; count < 20; count++) expect(await limiter.consume('chat')).toEqual({ headers: {} })
    expect(warn).toHaveBeenCalledOnce()

    const late = await startRedis({ port: Number(new URL(redis.url).port) })
    parts.defer(() => late.stop())
    await untilRefusing(limiter)
  })

  test('and is there but of no use at first is tried again', async () => {
    const redis = await startRedis()
    parts.defer(() => redis.stop())
    const operator = parts.adopt(new Redis(redis.url), (connection) => connection.disconnect())
    await operator.acl('SETUSER', 'default', '-evalsha', '-eval')
    const platform = parts.use(await openPlatform({ backEnd: 'postgres', worker: false }))
    const limiter = openLimiterOn(redis.url, platform)
    await expect
      .poll(async () => {
        expect(await limiter.consume('chat')).toEqual({ headers: {} })
        return operator.info('commandstats')
      })
      .toMatch(/_eval(sha)?:.*rejected_calls=[1-9]/)
    await operator.acl('SETUSER', 'default', '+evalsha', '+eval')
    await untilRefusing(limiter)
  })

  test('and yet connected is waited for once in a while at most', async () => {
    const redis = await startRedis()
    parts.defer(() => redis.stop())
    const environment = { ...limits, REDIS_URL: redis.url }
    const platform = parts.use(await openPlatform({ worker: false, environment }))
    await untilCounting(platform.url)
    const { chatUrl } = await platform.createBot()
    process.kill(redis.pid, 'SIGSTOP')
    try {
      const { statuses, median } = await helloManyTimes(`${chatUrl}/hello`)
      expect([...statuses]).toEqual([200])
      expect(median).toBeLessThan(200)
    } finally {
      process.kill(redis.pid, 'SIGCONT')
    }
    await untilCounting(platform.url)
  })
})

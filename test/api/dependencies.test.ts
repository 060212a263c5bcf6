import { Client } from '@botpress/chat'
import { escapeIdentifier } from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '../../cli/postgres/free-port.ts'
import { openLink, type Link } from '../chaos/network.ts'
import { createChatUser, type ChatUser } from '../support/chat-client.ts'
import { administer } from '../support/databases.ts'
import { installCode, logOf } from '../support/install-code.ts'
import { replies } from '../support/outcomes.ts'
import { backEnds, openPlatform, send, type Answer, type DeployedBot, type Platform } from '../support/platform.ts'
import { startProcess } from '../support/processes.ts'

const metricsToken = 'the-operator-of-the-tests-of-dependencies'

/** Says two things, with a pause between them where that is asked for. */
const slowBot = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const say = (text) => client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
      await say('first')
      if (event.preview === 'slowly') await new Promise((resolve) => setTimeout(resolve, 1500))
      await say('second')
    },
  }
  export const actions = { greet: () => ({ text: 'hello' }) }`

/** The longest that anybody may wait for an answer, whatever is away, and for a whole platform to be back; on a busy machine. */
const answerMilliseconds = 8000
const returnMilliseconds = 12_000
/** A dependency that is known to be unavailable is not asked again; an attempt would take two seconds. */
const knownMilliseconds = 1900
/** A job that was under way when Redis went away is taken over ten seconds after its return at the latest. */
const takenOverMilliseconds = 15_000

/** The address of a server by way of a link to it. */
function through({ port }: Link, address: string): string {
  const url = new URL(address)
  url.port = String(port)
  return url.href
}

async function timed<Result>(work: () => Promise<Result>): Promise<Result> {
  const begin = performance.now()
  const result = await work()
  expect(performance.now() - begin).toBeLessThan(answerMilliseconds)
  return result
}

const away = {
  status: 503,
  body: {
    code: 503,
    type: 'Internal',
    id: expect.stringMatching(/^err_/),
    message: expect.stringContaining('again'),
  },
}

describe.each(backEnds)('on %s, an api and a worker', (backEnd) => {
  const parts = new AsyncDisposableStack()
  /** Has its own ways to the database and to Redis, which never fail. */
  let platform: Platform
  let database: Link
  let redis: Link | undefined
  let url: string
  let metricsPort: string
  let bot: DeployedBot
  let chatUser: ChatUser
  let conversationId: string

  beforeAll(async () => {
    platform = parts.use(await openPlatform({ backEnd, worker: false }))
    const { DATABASE_URL, REDIS_URL } = platform.environment
    database = await linkTo(DATABASE_URL!)
    redis = REDIS_URL === undefined ? undefined : await linkTo(REDIS_URL)
    const port = String(await freePort())
    url = `http://127.0.0.1:${port}`
    metricsPort = String(await freePort())
    const environment = {
      DATABASE_URL: through(database, DATABASE_URL!),
      ...(redis && { REDIS_URL: through(redis, REDIS_URL!) }),
      PORT: port,
      // The sweep must not be what handles messages that were stored without a wake-up.
      WORKER_SWEEP_SECONDS: '600',
      LOG_LEVEL: 'fatal',
    }
    bot = await platform.createBot()
    chatUser = await createChatUser(bot.chatUrl)
    conversationId = await chatUser.createConversation()

    database.cut()
    redis?.cut()
    for (const name of ['api', 'worker'] as const) {
      const child = await startProcess(platform, name, {
        ...environment,
        ...(name === 'worker' && { METRICS_PORT: metricsPort, METRICS_TOKEN: metricsToken }),
      })
      parts.defer(async () => void (await child.stop()))
    }
    await vi.waitUntil(async () => (await get('/healthz')).status === 200, { timeout: 50_000 })
  }, 90_000)
  afterAll(() => parts.disposeAsync())

  async function linkTo(address: string): Promise<Link> {
    return parts.use(await openLink(() => Number(new URL(address).port)))
  }

  const get = (path: string, headers = {}) =>
    send('GET', `${url}${path}`, undefined, headers).catch(() => ({ status: 0, body: undefined }))

  /** Asks by way of the processes whose connections fail. */
  function ask(method: string, path: string, body?: unknown): Promise<Answer> {
    return send(method, `${url}/chat/${bot.webhookId}${path}`, body, { 'x-user-key': chatUser.key })
  }

  const say = (text: string, conversation = conversationId) =>
    ask('POST', '/messages', { conversationId: conversation, payload: { type: 'text', text } })

  async function untilReady(): Promise<void> {
    const ready = { status: 200, body: { status: 'ok', database: 'ok', ...(redis && { redis: 'ok' }) } }
    await expect.poll(() => get('/readyz'), { timeout: returnMilliseconds, interval: 50 }).toMatchObject(ready)
  }

  /** Makes the database refuse, or take, the writes of connections that these processes open from now on. */
  async function setDefault(value: 'on' | 'off'): Promise<void> {
    const url = platform.environment['DATABASE_URL']!
    const name = escapeIdentifier(new URL(url).pathname.slice(1))
    await administer(
      url,
      `set transaction_read_only = off; alter database ${name} set default_transaction_read_only = ${value}`,
    )
  }

  /** Makes the database refuse all writes of these processes. */
  async function setReadOnly(): Promise<void> {
    await setDefault('on')
    database.cut()
    await expect.poll(() => get('/readyz')).toMatchObject({ status: 503 })
    database.mend()
    await untilReady()
  }

  async function rollbacks(): Promise<number> {
    const statistics = platform.context
      .db('pg_stat_database')
      .where('datname', platform.context.db.raw('current_database()'))
    return Number((await statistics.first('xact_rollback')).xact_rollback)
  }

  /** Runs of code that the worker ended because their time was over. */
  async function timeouts(): Promise<number> {
    const headers = { authorization: `Bearer ${metricsToken}` }
    const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`, { headers })
    expect(response.status).toBe(200)
    const [, count = '0'] = /^isobot_runs_total{outcome="timeout"} (\d+)$/m.exec(await response.text()) ?? []
    return Number(count)
  }

  /** Says something in a conversation of its own, and waits for what the bot says to it. */
  async function converse(): Promise<void> {
    const conversation = await chatUser.createConversation()
    expect(await say('hello', conversation)).toMatchObject({ status: 201 })
    await expect
      .poll(() => replies(platform, conversation), { timeout: returnMilliseconds, interval: 50 })
      .toEqual(['first', 'second'])
  }

  test('that start while all dependencies are unavailable stay up, refuse at once, and work when they are available', async () => {
    const unready = { status: 503, body: { database: 'unavailable', ...(redis && { redis: 'unavailable' }) } }
    expect(await get('/readyz')).toMatchObject(unready)
    const answer = await timed(() => say('anybody there?'))
    expect(answer).toMatchObject(away)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)

    database.mend()
    redis?.mend()
    await untilReady()
    const uploaded = await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { code: slowBot })
    expect(uploaded.status).toBe(200)
    await converse()
  }, 60_000)

  test('whose database falls silent refuse requests in flight and new ones, and resume when it answers again', async () => {
    const slow = await chatUser.createConversation()
    expect(await say('slowly', slow)).toMatchObject({ status: 201 })
    await expect.poll(() => replies(platform, slow), { timeout: 10_000, interval: 20 }).toEqual(['first'])
    database.silence()
    const inFlight = await Promise.all([1, 2, 3].map(() => timed(() => say('is it lost?'))))
    for (const answer of inFlight) expect(answer).toMatchObject(away)

    // From now on it is known.
    const begin = performance.now()
    expect(await say('hello?')).toMatchObject(away)
    expect(performance.now() - begin).toBeLessThan(knownMilliseconds)
    expect(await timed(() => get('/readyz'))).toMatchObject({
      status: 503,
      body: { status: 'unavailable', database: 'unavailable', ...(redis && { redis: 'ok' }) },
    })
    expect(await get('/healthz')).toMatchObject({ status: 200 })

    database.mend()
    await untilReady()
    await converse()
    // The run that was cut off in the middle is none the worse for it.
    await expect.poll(() => replies(platform, slow), { timeout: 10_000 }).toEqual(['first', 'second'])
  }, 60_000)

  test('whose database ends all connections and is back soon work on', async () => {
    database.cut()
    await expect.poll(() => get('/readyz')).toMatchObject({ status: 503 })
    expect(await timed(() => say('hello?'))).toMatchObject(away)
    database.mend()
    await untilReady()
    await converse()
  }, 60_000)

  test('whose database refuses all writes, as with a full disk, answer reads, refuse writes, and fail no event', async () => {
    const slow = await chatUser.createConversation()
    expect(await say('slowly', slow)).toMatchObject({ status: 201 })
    await expect.poll(() => replies(platform, slow), { timeout: 10_000, interval: 20 }).toEqual(['first'])
    await setReadOnly()
    const refused = await timed(() => say('is it lost?'))
    expect(refused).toMatchObject(away)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await ask('GET', `/conversations/${slow}/messages`)).toMatchObject({ status: 200 })
    // The bot's second message, and its repetitions.
    const before = await rollbacks()
    await expect.poll(rollbacks, { timeout: 20_000 }).toBeGreaterThan(before + 6)

    // Open connections keep the former setting.
    await setDefault('off')
    await expect.poll(() => say('is it back?').then(({ status }) => status), { timeout: 10_000 }).toBe(201)
    await converse()
    await expect.poll(() => replies(platform, slow), { timeout: 30_000 }).toEqual(['first', 'second'])
    expect(await platform.context.db('events').where({ bot_id: bot.id, status: 'failed' })).toEqual([])
  }, 90_000)

  test('whose database stays available and ends the connection of each write for a while fail no event', async () => {
    const slow = await chatUser.createConversation()
    expect(await say('slowly', slow)).toMatchObject({ status: 201 })
    await expect.poll(() => replies(platform, slow), { timeout: 10_000, interval: 20 }).toEqual(['first'])
    const { db } = platform.context
    await db.transaction(async (transaction) => {
      await transaction.raw('lock table messages in exclusive mode')
      let ended = 0
      const endWaiting = async () => {
        const waiting = db('pg_stat_activity')
          .where({ wait_event_type: 'Lock' })
          .whereRaw('datname = current_database()')
        ended += (await waiting.select(db.raw('pg_terminate_backend(pid)'))).length
        return ended
      }
      // More than one run repeats its call.
      await expect.poll(endWaiting, { timeout: 20_000, interval: 50 }).toBeGreaterThan(8)
    })
    await expect.poll(() => replies(platform, slow), { timeout: 30_000 }).toEqual(['first', 'second'])
    expect(await platform.context.db('events').where({ bot_id: bot.id, status: 'failed' })).toEqual([])
  }, 90_000)

  test('whose database is unavailable for longer than an event may take handle the event afterwards', async () => {
    const limited = await platform.createBot(slowBot, { limits: { wallMilliseconds: 2500 } })
    const user = await createChatUser(limited.chatUrl)
    const conversation = await user.createConversation()
    await user.send(conversation, 'slowly')
    await expect.poll(() => replies(platform, conversation), { timeout: 10_000, interval: 20 }).toEqual(['first'])
    expect(await timeouts()).toBe(0)
    database.cut()
    await expect.poll(timeouts, { timeout: 10_000 }).toBe(1)
    database.mend()
    await untilReady()
    await expect.poll(() => replies(platform, conversation), { timeout: 30_000 }).toEqual(['first', 'second'])
  }, 90_000)

  test('whose database is unavailable for a moment while an action of an integration runs call the action once', async () => {
    const caller = await platform.createBot(`
      export const hooks = {
        async afterIncomingMessage({ event, client }) {
          const { output } = await client.callAction({ type: 'tool:charge', input: {} })
          await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: output.text } })
        },
      }`)
    await installCode(
      platform,
      caller.id,
      `export const actions = {
        async charge({ client, ctx, logger }) {
          logger.info('charging')
          await client.setState({ type: 'integration', id: ctx.integrationId, name: 'charging', payload: {} })
          await new Promise((resolve) => setTimeout(resolve, 1500))
          return { text: 'charged' }
        },
      }`,
    )
    const user = await createChatUser(caller.chatUrl)
    const conversation = await user.createConversation()
    await user.send(conversation, 'charge')
    const charging = () => platform.context.db('states').where({ bot_id: caller.id, name: 'charging' })
    await expect.poll(charging, { timeout: 10_000, interval: 20 }).toHaveLength(1)
    database.cut()
    await expect.poll(() => get('/readyz')).toMatchObject({ status: 503 })
    database.mend()
    await untilReady()
    await expect.poll(() => replies(platform, conversation), { timeout: 30_000 }).toEqual(['charged'])
    expect(await platform.context.db('events').where({ mailbox: conversation })).toMatchObject([{ attempt: 1 }])
    const ended = async () => (await logOf(platform, caller.id)).filter((line) => line === 'info charging')
    await expect.poll(ended).not.toEqual([])
    expect(await ended()).toEqual(['info charging'])
  }, 90_000)

  test('answer the published client with errors that it knows, and event sources with a status on which they reconnect', async () => {
    const client = await Client.connect({ apiUrl: `${url}/chat/${bot.webhookId}`, userKey: chatUser.key })
    const listen = () =>
      fetch(`${url}/chat/${bot.webhookId}/conversations/${conversationId}/listen`, {
        headers: { 'x-user-key': chatUser.key, accept: 'text/event-stream' },
      })
    database.cut()
    await expect.poll(() => get('/readyz')).toMatchObject({ status: 503 })
    const failure = client.createConversation({})
    await expect(failure).rejects.toMatchObject({ type: 'Internal', message: expect.stringContaining('again') })
    const refused = await listen()
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    database.mend()
    await untilReady()
  }, 60_000)

  test.runIf(backEnd === 'redis').each(['cut', 'silence'] as const)(
    'whose Redis is away (%s) store what is said, and handle it as soon as it is back',
    async (how) => {
      const conversation = await chatUser.createConversation()
      redis![how]()
      expect(await timed(() => say('stored', conversation))).toMatchObject({ status: 201 })
      await expect
        .poll(() => get('/readyz'), { timeout: answerMilliseconds })
        .toMatchObject({ status: 503, body: { database: 'ok', redis: 'unavailable' } })
      const begin = performance.now()
      expect(await say('stored too', conversation)).toMatchObject({ status: 201 })
      const headers = { authorization: `Bearer ${platform.token}`, 'x-bot-id': bot.id }
      expect(await send('POST', `${url}/v1/chat/actions`, { type: 'greet', input: {} }, headers)).toMatchObject(away)
      expect(performance.now() - begin).toBeLessThan(knownMilliseconds)

      redis!.mend()
      await untilReady()
      await expect
        .poll(() => replies(platform, conversation), { timeout: takenOverMilliseconds, interval: 50 })
        .toEqual(['first', 'second', 'first', 'second'])
      expect(await send('POST', `${url}/v1/chat/actions`, { type: 'greet', input: {} }, headers)).toMatchObject({
        status: 200,
      })
    },
    60_000,
  )
})

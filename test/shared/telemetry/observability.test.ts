import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openJobWorker } from '#shared/queue/job-worker.ts'
import { readQueueStats } from '#shared/monitoring/queue-stats.ts'
import { openQueue } from '#shared/queue/queue.ts'
import { startTracing } from '#shared/telemetry/start-tracing.ts'
import { openedTracing, traced } from '#shared/telemetry/tracing.ts'
import { createChatUser } from '../../support/chat-client.ts'
import {
  botSecret,
  metricsToken,
  openObservedPlatform,
  type ObservedPlatform,
} from '../../support/observed-platform.ts'
import { openPlatform, send, type Platform } from '../../support/platform.ts'
import { openReceiver } from '../../support/receiver.ts'
import { isWithin, pathTo, spansIn } from '../../support/spans.ts'

const bearer = { authorization: `Bearer ${metricsToken}` }

/** Requests for metrics, and their statuses. */
async function statuses(url: string, headers: Record<string, string>): Promise<number[]> {
  return Promise.all(['/metrics', '/autoscale'].map(async (path) => (await fetch(url + path, { headers })).status))
}

async function readFigures(url: string): Promise<string> {
  return (await fetch(`${url}/metrics`, { headers: bearer })).text()
}

/** NaN where there is no such series. */
function figure(text: string, series: string): number {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `))
  return Number(line?.split(' ').at(-1))
}

async function untilAnswered({ chatUser }: ObservedPlatform, conversationId: string, text: string): Promise<void> {
  await expect
    .poll(async () => (await chatUser.messages(conversationId)).map((message) => message.text), { timeout: 15_000 })
    .toContain(text)
}

describe('a platform that traces', () => {
  let fixture: ObservedPlatform
  beforeAll(async () => {
    fixture = await openObservedPlatform()
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  test('joins the trace of a request, from the api through the queue to the hook, what it calls, and the reply', async () => {
    const { chatUser, bot, collector, outside } = fixture
    const conversationId = await chatUser.createConversation()
    const traceId = 'abcdef0123456789abcdef0123456789'
    const { status } = await send(
      'POST',
      `${bot.chatUrl}/messages`,
      { conversationId, payload: { type: 'text', text: 'hello' } },
      { 'x-user-key': chatUser.key, traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
    )
    expect(status).toBe(201)
    await untilAnswered(fixture, conversationId, 'I heard hello200')
    const ofTrace = () => spansIn(collector).filter((span) => span.traceId === traceId)
    const request = 'POST chat.createMessage'
    const run = [request, 'add events.message', 'process events', 'handle event', 'run event']
    // They are sent as they end, the inner ones before the outer ones.
    const names = () => ofTrace().map(({ name }) => name)
    await expect.poll(names, { timeout: 15_000 }).toEqual(expect.arrayContaining(run))

    const spans = ofTrace()
    const paths = spans.map((span) => pathTo(span, spans))
    expect(paths).toContainEqual([request])
    expect(paths).toContainEqual([...run, 'hook afterIncomingMessage'])
    expect(paths).toContainEqual([...run, 'outbound request'])
    expect(paths).toContainEqual([...run, 'host call createMessage'])
    const stores = paths.filter((path) => path.at(-1)!.includes('insert messages'))
    expect(stores.some((path) => isWithin(path, [request]) && path.length === 2)).toBe(true)
    expect(stores.some((path) => isWithin(path, [...run, 'host call createMessage']))).toBe(true)

    const services = (name: string) => spans.filter((span) => span.name === name).map(({ service }) => service)
    expect([services(request), services('handle event')]).toEqual([['isobot-api'], ['isobot-worker']])
    expect(spans.find(({ name }) => name === request)?.parentSpanId).toBe('00f067aa0ba902b7')
    // Whom the bot asks is told nothing of it.
    expect(outside.received.at(-1)?.headers).not.toHaveProperty('traceparent')
    expect(JSON.stringify(spans)).not.toContain('part-of-an-address')
  })

  test('keeps nothing of the queue’s own housekeeping', () => {
    expect(spansIn(fixture.collector).map(({ name }) => name)).not.toContainEqual(
      expect.stringMatching(/^(getNextJob|extendLocks|moveStalled|startStalled)/),
    )
  })

  describe('and logs', () => {
    test('says on each line which request it is of, and whose', async () => {
      const { bot, chatUser, api } = fixture
      const known = await send('GET', `${bot.chatUrl}/conversations`, undefined, {
        'x-user-key': chatUser.key,
        'x-request-id': 'router-4711',
      })
      expect(known.headers.get('x-request-id')).toBe('router-4711')
      const own = await send('GET', `${bot.chatUrl}/nowhere`, undefined, { 'x-request-id': 'not one "id", but a text' })
      expect(own.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      const long = await send('GET', `${bot.chatUrl}/nowhere`, undefined, { 'x-request-id': 'x'.repeat(129) })
      expect(long.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)

      const lines = () => api.lines().filter(({ requestId }) => requestId === 'router-4711')
      await expect.poll(lines).toContainEqual(
        expect.objectContaining({
          msg: 'Answered',
          operation: 'chat.listConversations',
          status: 200,
          botId: bot.id,
          userId: chatUser.userId,
          method: 'GET',
          milliseconds: expect.any(Number),
        }),
      )
    })

    test('says on each line of a worker which job, bot and event it is of', async () => {
      const { bot, chatUser, worker } = fixture
      const conversationId = await chatUser.createConversation()
      await chatUser.send(conversationId, 'fail')
      const handled = () => worker.lines().filter((line) => line['conversationId'] === conversationId)
      await expect.poll(handled, { timeout: 10_000 }).toContainEqual(
        expect.objectContaining({
          msg: 'Handled',
          outcome: 'failed',
          botId: bot.id,
          eventId: expect.stringMatching(/^evt_/),
          jobId: expect.any(String),
          job: 'message',
          attempt: 1,
        }),
      )
    })

    test('says so on lines that come of calls of bot code, too', () => {
      const { bot, worker } = fixture
      expect(worker.lines()).toContainEqual(
        expect.objectContaining({
          msg: 'Called',
          operation: 'createMessage',
          status: 201,
          botId: bot.id,
          eventId: expect.stringMatching(/^evt_/),
          jobId: expect.any(String),
          traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
        }),
      )
    })

    test('never says a secret', async () => {
      const {
        platform,
        apiUrl,
        bot,
        chatUser,
        api,
        worker,
        chatUser: { key },
      } = fixture
      const as = { authorization: `Bearer ${platform.token}`, 'x-workspace-id': platform.workspaceId }
      const encryptionKey = 'an-encryption-key-that-someone-chose'
      const configuration = { encryptionKey, webhookSecret: 'the-secret-of-a-webhook', webhookUrl: 'not a url' }
      await send('PUT', `${apiUrl}/v1/admin/bots/${bot.id}`, { integrations: { chat: { configuration } } }, as)
      await send('GET', `${apiUrl}/v1/admin/bots`, undefined, { ...as, authorization: 'Bearer an-unknown-token' })
      await send('POST', `${apiUrl}/v1/admin/bots`, `{"code":"${encryptionKey}`, as)
      const created = await send('POST', `${apiUrl}/v1/admin/bots/baks`, { botId: bot.id, note: 'n' }, as)
      const address = `${bot.chatUrl}/conversations/nowhere/listen?x-user-key=${key}`
      await send('GET', address, undefined, { upgrade: 'websocket' }).catch(() => {})
      await send('GET', address, undefined, { 'idempotency-key': 'an-idempotency-key-of-mine' })
      const conversationId = await chatUser.createConversation()
      await chatUser.send(conversationId, 'fail')
      const failures = () => worker.lines().filter((line) => line['conversationId'] === conversationId)
      await expect.poll(failures, { timeout: 10_000 }).not.toEqual([])

      const database = new URL(platform.environment['DATABASE_URL']!)
      const secrets = {
        admin: platform.token,
        key: created.body.value,
        user: key,
        signature: key.split('.').at(-1),
        platform: platform.environment['ISOBOT_SECRET'],
        bot: botSecret,
        metrics: metricsToken,
        encryptionKey,
        webhook: configuration.webhookSecret,
        unknown: 'an-unknown-token',
        address: 'part-of-an-address',
        ...(database.password && { database: `${database.username}:${database.password}@` }),
      }
      const text = api.text() + worker.text()
      expect(text.length).toBeGreaterThan(5000)
      const each = Object.entries(secrets) as [name: string, secret: unknown][]
      expect(each.filter(([, secret]) => typeof secret !== 'string')).toEqual([])
      expect(each.filter(([, secret]) => text.includes(String(secret))).map(([name]) => name)).toEqual([])
    })
  })

  describe('and serves metrics', () => {
    let workerUrl: string
    beforeAll(() => {
      const line = fixture.worker.lines().find(({ msg }) => msg === 'Serving health and metrics')
      workerUrl = `http://127.0.0.1:${String(line?.['port'])}`
    })

    test('to callers with the token only, and to none where there is no token', async () => {
      const { apiUrl, platform } = fixture
      for (const url of [apiUrl, workerUrl]) {
        expect(await statuses(url, {})).toEqual([401, 401])
        expect(await statuses(url, { authorization: `Bearer ${platform.token}` })).toEqual([401, 401])
        expect(await statuses(url, bearer)).toEqual([200, 200])
        expect((await fetch(`${url}/elsewhere`, { headers: bearer })).status).toBe(404)
      }
      expect(await statuses(platform.url, bearer)).toEqual([404, 404])
    })

    test('beside the health of the api and the worker, which needs no token', async () => {
      for (const url of [fixture.apiUrl, workerUrl]) {
        const [healthz, readyz] = await Promise.all(['/healthz', '/readyz'].map((path) => fetch(url + path)))
        expect({ status: healthz!.status, body: await healthz!.json() }).toEqual({
          status: 200,
          body: { status: 'ok' },
        })
        const body = { status: 'ok', database: 'ok', redis: 'ok', ...(url === workerUrl && { queue: 'ok' }) }
        expect({ status: readyz!.status, body: await readyz!.json() }).toEqual({ status: 200, body })
      }
    })

    test('of requests, events, runs, isolates, connections and the queue, with labels of fixed values', async () => {
      const { apiUrl, bot, chatUser } = fixture
      const [api, worker] = [await readFigures(apiUrl), await readFigures(workerUrl)]
      expect(figure(api, 'isobot_http_request_duration_seconds_count{operation="none",status="404"}')).toBeGreaterThan(
        0,
      )
      expect(figure(api, 'isobot_streams_open')).toBe(0)
      expect(figure(api, 'isobot_events_waiting')).toBe(0)
      expect(figure(api, 'isobot_queue_jobs{state="waiting"}')).toBe(0)
      expect(figure(api, 'isobot_workers')).toBe(1)
      expect(figure(api, 'isobot_dependency_up{dependency="database"}')).toBe(1)
      expect(figure(api, 'isobot_dependency_up{dependency="redis"}')).toBe(1)
      expect(figure(api, 'isobot_database_connections{state="used"}')).toBeGreaterThanOrEqual(0)
      expect(figure(worker, 'isobot_events_total{outcome="processed"}')).toBe(1)
      expect(figure(worker, 'isobot_events_total{outcome="failed"}')).toBe(2)
      expect(figure(worker, 'isobot_event_queue_seconds_count')).toBe(3)
      expect(figure(worker, 'isobot_event_handling_seconds_sum')).toBeGreaterThan(0)
      expect(figure(worker, 'isobot_runs_total{outcome="error"}')).toBe(2)
      expect(figure(worker, 'isobot_runs_processor_seconds_total')).toBeGreaterThan(0)
      expect(figure(worker, 'isobot_host_call_duration_seconds_count{operation="createMessage",status="201"}')).toBe(1)
      expect(figure(worker, 'isobot_outbound_requests_total{outcome="answered"}')).toBe(1)
      expect(figure(worker, 'isobot_jobs_total{job="message",outcome="done"}')).toBeGreaterThan(1)
      expect(figure(worker, 'isobot_worker_slots{state="total"}')).toBe(100)
      // The processes tell with their heartbeats, once a second.
      const starts = async (kind: string) =>
        figure(await readFigures(workerUrl), `isobot_isolate_starts_total{kind="${kind}"}`)
      await expect.poll(() => starts('warm'), { timeout: 5000 }).toBeGreaterThan(0)
      expect((await starts('spare')) + ((await starts('cold')) || 0)).toBeGreaterThan(0)
      expect(figure(await readFigures(workerUrl), 'isobot_sandbox_resident_bytes{place="home 0"}')).toBeGreaterThan(
        20e6,
      )
      for (const text of [api, worker]) {
        for (const id of [bot.id, bot.webhookId, chatUser.userId]) expect(text).not.toContain(id)
      }
    })

    test('of sandbox processes that are killed, by why', async () => {
      const [ready] = fixture.worker.lines().filter(({ msg }) => msg === 'A sandbox process is ready')
      process.kill(Number(ready!['sandboxPid']), 'SIGKILL')
      const series = 'isobot_sandbox_kills_total{cause="ended"}'
      await expect.poll(async () => figure(await readFigures(workerUrl), series), { timeout: 10_000 }).toBe(1)
    })

    test('for autoscalers: what waits, for how long, and how many workers it takes', async () => {
      const answer = await fetch(`${fixture.apiUrl}/autoscale`, { headers: bearer })
      expect(await answer.json()).toMatchObject({
        waiting: 0,
        oldestWaitingSeconds: 0,
        jobs: { waiting: 0, active: 0 },
        workers: 1,
        slots: 100,
        suggestedWorkers: 1,
      })
    })
  })
})

describe('a platform on PostgreSQL without a worker', () => {
  let platform: Platform
  beforeAll(async () => {
    platform = await openPlatform({ backEnd: 'postgres', worker: false })
  })
  afterAll(() => platform?.[Symbol.asyncDispose]())

  test('knows what waits, for how long, and how fast it comes', async () => {
    const { context } = platform
    expect(await readQueueStats(context)).toMatchObject({ waiting: 0, arrivalsPerSecond: null, workers: 0 })
    const { chatUrl } = await platform.createBot()
    const chatUser = await createChatUser(chatUrl)
    const conversationId = await chatUser.createConversation()
    for (const text of ['one', 'two', 'three']) await chatUser.send(conversationId, text)
    // An event that has begun does not wait.
    await context.db.raw(`update events set attempt = 1, started_at = now() where id = (select min(id) from events)`)
    const state = () => readQueueStats(context)
    // It is remembered for a moment.
    await expect.poll(async () => (await state()).waiting, { timeout: 20_000, interval: 300 }).toBe(2)
    const { waiting, oldestWaitingSeconds, jobs } = await state()
    expect({ waiting, jobs }).toEqual({
      waiting: 2,
      jobs: { waiting: 1, active: 0, delayed: 0, failed: 0 },
    })
    expect(oldestWaitingSeconds).toBeGreaterThan(0)
    expect(oldestWaitingSeconds).toBeLessThan(60)
    // The statistics of PostgreSQL come late, and one at a time.
    await expect
      .poll(
        async () => {
          await chatUser.send(conversationId, 'more')
          return (await state()).arrivalsPerSecond
        },
        { timeout: 50_000, interval: 300 },
      )
      .toBeGreaterThan(0)
  })

  test('carries the trace of who wakes to the job; a job without a trace begins its own', async () => {
    await using parts = new AsyncDisposableStack()
    const collector = parts.use(await openReceiver())
    const { context } = platform
    // The exporter reads it by itself.
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url
    parts.defer(() => void delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'])
    const tracing = { sampler: 'parentbased_always_on', ratio: 1, exportMilliseconds: 100 } as const
    parts.use(await startTracing({ ...context.config, tracing }, 'test', context.log))
    const traces = new Map<string, string | undefined>()
    parts.adopt(
      openJobWorker(context, context.config.worker, async (job) => {
        if ('mailbox' in job.data) traces.set(job.data.mailbox, openedTracing()?.traceId())
      }),
      (jobs) => jobs.close(),
    )
    // A queue that was opened before anything was traced would carry nothing.
    const queue = parts.adopt(openQueue(context), (open) => open.close())
    const wakesFrom = await traced('somebody', {}, async () => {
      await queue.wake('message', 'with-a-trace', 'bot_1')
      return openedTracing()?.traceId()
    })
    await queue.wake('message', 'without-one', 'bot_1')
    const known = expect.arrayContaining(['with-a-trace', 'without-one'])
    await expect.poll(() => Array.from(traces.keys()), { timeout: 10_000 }).toEqual(known)
    expect(wakesFrom).toMatch(/^[0-9a-f]{32}$/)
    expect(traces.get('with-a-trace')).toBe(wakesFrom)
    expect(traces.get('without-one')).toMatch(/^[0-9a-f]{32}$/)
    expect(traces.get('without-one')).not.toBe(wakesFrom)
  })
})

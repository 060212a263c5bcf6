import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { newId } from '#shared/ids.ts'
import { scanEvents } from '#shared/store/event-timeline.ts'
import { pageOfLogs } from '#shared/store/logs.ts'
import { logPosition, readLogTail } from '#shared/store/log-tail.ts'
import { createChatUser } from '../../../support/chat-client.ts'
import { installCode } from '../../../support/install-code.ts'
import { createMember } from '../../../support/members.ts'
import { openPlatform, type Answer, type DeployedBot, type Platform } from '../../../support/platform.ts'

/** Does a bit of everything, and fails on what is bad: for good on the worst. */
const busy = `
  export const retry = { attempts: 2, backoff: 1 }
  let isFirst = true
  export const hooks = {
    async beforeIncomingMessage() {},
    async afterIncomingMessage({ event, client, logger }) {
      logger.info('heard ' + event.preview)
      if (event.preview.startsWith('good')) {
        await client.callAction({ type: 'greet', input: {} })
        await fetch('https://shop.example/private?key=hidden').catch(() => {})
        const payload = { text: 'yes' }
        await client.createMessage({ conversationId: event.conversationId, type: 'text', payload })
      }
      if (event.preview === 'bad once' && isFirst) {
        isFirst = false
        throw new Error('not now')
      }
      if (event.preview.startsWith('worst')) throw new TypeError('order ' + event.preview.slice(6) + ' is lost')
    },
    async beforeOutgoingMessage() {},
  }
  export const actions = { async greet({ client }) {
    await client.getState({ type: 'bot', id: 'none', name: 'cart' }).catch(() => {})
    return {}
  } }`

const said = ['good morning', 'bad once', 'worst 4711', 'worst 4712', 'good night']

let platform: Platform
let bot: DeployedBot
let conversationId: string
let stranger: Record<string, string>
let viewer: Record<string, string>
const ask = (path: string, headers?: Record<string, string>): Promise<Answer> =>
  platform.ask('GET', `/v1/admin/bots/${bot.id}${path}`, undefined, headers)

const list = async (query: string, headers?: Record<string, string>) => {
  const { status, body } = await ask(`/events${query}`, headers)
  expect({ status, body }).toMatchObject({ status: 200 })
  return body
}

const previews = async (query: string) => (await list(query)).events.map(({ preview }: { preview: string }) => preview)

/** The newest event in which these words occur, in full. */
const details = async (text: string) => {
  const [{ id }] = (await ask(`/events?text=${encodeURIComponent(text)}`)).body.events
  return (await ask(`/events/${id}`)).body.event
}

const installations = async () => (await ask('/installations', viewer)).body.installations

beforeAll(async () => {
  platform = await openPlatform()
  bot = await platform.createBot(busy)
  const chatUser = await createChatUser(bot.chatUrl)
  conversationId = await chatUser.createConversation()
  for (const text of said) await chatUser.send(conversationId, text)
  stranger = await createMember(platform, 'owner')
  viewer = await createMember(platform, 'viewer', platform.workspaceId)
  const waiting = () => platform.context.db('events').where({ bot_id: bot.id, status: 'pending' }).first()
  await vi.waitUntil(async () => !(await waiting()), 30_000)
})
afterAll(() => platform[Symbol.asyncDispose]())

describe('a bot’s timeline', () => {
  test('has its events, the newest first, with how they went and how long they took', async () => {
    const { events, meta } = await list('')
    expect(meta).toEqual({})
    expect(events.map(({ preview }: { preview: string }) => preview)).toEqual(said.toReversed())
    expect(events[0]).toMatchObject({ status: 'processed', attempts: 1, failureReason: null, isReplayable: false })
    expect(events[1]).toMatchObject({
      status: 'failed',
      hook: 'afterIncomingMessage',
      attempts: 2,
      isReplayable: true,
      failureReason: expect.stringContaining('order 4712 is lost'),
    })
    const { versionId, queueMilliseconds, milliseconds, cpuMilliseconds } = events[4]
    expect(versionId).toMatch(/^botver_/)
    expect(queueMilliseconds).toBeGreaterThanOrEqual(0)
    expect(milliseconds).toBeGreaterThan(cpuMilliseconds)
    expect(cpuMilliseconds).toBeGreaterThan(0)
  })

  test('is narrowed, and read page by page', async () => {
    expect(await previews('?status=failed')).toEqual(['worst 4712', 'worst 4711'])
    expect(await previews('?text=4711')).toEqual(['worst 4711'])
    expect(await previews('?text=GOOD%20M')).toEqual(['good morning'])
    expect(await previews('?type=other')).toEqual([])
    const { events } = await list(`?conversationId=${conversationId}`)
    expect(events).toHaveLength(said.length)
    const [, { id, createdAt, userId, messageId }] = events
    for (const named of [id, messageId]) expect(await previews(`?text=${named}`)).toEqual(['worst 4712'])
    expect(await previews(`?text=${userId}&status=processed&pageSize=1`)).toEqual(['good night'])
    expect(await previews(`?timeStart=${createdAt}`)).toEqual(['good night', 'worst 4712'])
    const first = await list('?pageSize=2')
    const second = await list(`?pageSize=2&nextToken=${first.meta.nextToken}`)
    const third = await list(`?pageSize=2&nextToken=${second.meta.nextToken}`)
    expect([...first.events, ...second.events, ...third.events]).toEqual(events)
    expect(third.meta).toEqual({})
  })

  test('is looked through a bounded part at a time', async () => {
    const { db } = platform.context
    const found: string[] = []
    let after
    let looks = 0
    do {
      const { rows, end } = await scanEvents(db, bot.id, { status: 'failed' }, { after, limit: 9, maxEvents: 2 })
      found.push(...rows.map(({ message_payload: payload }) => String(payload?.['text'])))
      expect(rows.length).toBeLessThanOrEqual(2)
      after = end
      looks += 1
    } while (after)
    expect(found).toEqual(['worst 4712', 'worst 4711'])
    expect(looks).toBe(3)
  })

  test('hides from viewers what was said, and finds none of it for them', async () => {
    const { events } = await list('', viewer)
    expect(events).toHaveLength(said.length)
    expect(JSON.stringify(events)).not.toContain('good')
    expect((await list('?text=morning', viewer)).events).toEqual([])
    expect((await list('?text=4711', viewer)).events).toHaveLength(1)
  })
})

describe('an event', () => {
  test('has the duration of each hook, call and request, and no secret of its address', async () => {
    const event = await details('good morning')
    expect(event).toMatchObject({
      message: { type: 'text', payload: { text: 'good morning' } },
      logs: expect.arrayContaining([expect.objectContaining({ message: 'heard good morning', eventId: event.id })]),
      runs: [{ attempt: 1, outcome: 'processed', stepsLeftOut: 0 }],
    })
    const [run] = event.runs
    const steps = run.steps.map(({ kind, name, depth, status, failure }: Record<string, string | number>) =>
      `${'  '.repeat(Number(depth))}${String(kind)} ${String(name)} ${String(status ?? failure ?? '')}`.trimEnd(),
    )
    // The isolate's clock and the worker's differ by the time that a frame takes, so that neighbours may change places.
    expect(steps.filter((step: string) => !step.startsWith('load')).toSorted()).toEqual(
      [
        'hook beforeIncomingMessage',
        'hook afterIncomingMessage',
        '  call callAction 200',
        '    action greet',
        '      call getState 404',
        '  fetch GET shop.example forbidden',
        '  hook beforeOutgoingMessage',
        '  call createMessage 201',
      ].toSorted(),
    )
    for (const { start, milliseconds } of run.steps) {
      expect(start).toBeGreaterThanOrEqual(0)
      expect(milliseconds).toBeGreaterThanOrEqual(0)
      expect(start + milliseconds).toBeLessThanOrEqual(run.milliseconds + 0.2)
    }
    expect(JSON.stringify(event)).not.toContain('hidden')
  })

  test('has each of its runs, and where in the author’s code the last one failed', async () => {
    const mended = await details('bad once')
    expect(mended.runs).toMatchObject([
      {
        attempt: 1,
        outcome: 'retried',
        error: { reason: 'error', hook: 'afterIncomingMessage', message: expect.stringContaining('not now') },
      },
      { attempt: 2, outcome: 'processed' },
    ])
    expect(mended).not.toHaveProperty('error')
    const failed = await details('worst 4711')
    expect(failed.runs).toMatchObject([{ outcome: 'retried' }, { outcome: 'failed' }])
    const line = busy.split('\n').findIndex((text) => text.includes('TypeError')) + 1
    expect(failed.error).toEqual({
      message: 'afterIncomingMessage: TypeError: order 4711 is lost',
      stack: expect.stringMatching(new RegExp(`afterIncomingMessage.*:${line}:`)),
    })
  })
})

test('failures that say the same are one error, with their number and examples', async () => {
  const { body } = await ask('/errors?window=1h')
  expect(body).toMatchObject({ looked: 2, isComplete: true })
  expect(body.errors).toMatchObject([
    {
      message: 'afterIncomingMessage: TypeError: order # is lost',
      example: 'afterIncomingMessage: TypeError: order 4712 is lost',
      words: 'afterIncomingMessage: TypeError: order',
      hook: 'afterIncomingMessage',
      count: 2,
      replayable: 2,
      types: ['message_created'],
      versionIds: [expect.stringMatching(/^botver_/)],
    },
  ])
  const [{ eventIds, firstAt, lastAt }] = body.errors
  expect(eventIds).toHaveLength(2)
  expect(firstAt < lastAt).toBe(true)
})

describe('a bot’s health', () => {
  test('is what became of its events by minutes, how long they took, and what waits', async () => {
    await expect
      .poll(async () => (await ask('/health?window=1h')).body.health.events, { timeout: 10_000 })
      .toEqual({ processed: 3, failed: 2, ignored: 0, retried: 3 })
    const { health } = (await ask('/health?window=1h')).body
    expect(health).toMatchObject({ window: '1h', bucketSeconds: 60, errorRate: 0.4, waiting: 0 })
    expect(health.buckets).toHaveLength(60)
    const sum = health.buckets.reduce((total: number, { processed }: { processed: number }) => total + processed, 0)
    expect(sum).toBe(3)
    for (const value of [health.p50, health.p95, health.queueP50, health.queueP95]) expect(value).toBeGreaterThan(0)
    expect(health.p95).toBeGreaterThanOrEqual(health.p50)
    expect(Date.parse(health.buckets.at(-1).at) + 60_000).toBeGreaterThan(Date.parse(health.to))
    for (const [window, buckets] of [
      ['24h', 96],
      ['7d', 84],
    ] as const) {
      const wider = (await ask(`/health?window=${window}`)).body.health
      expect(wider).toMatchObject({ events: health.events, p50: health.p50 })
      expect(wider.buckets).toHaveLength(buckets)
    }
  })

  test('is listed for all bots of the workspace at once, those without events included, page by page', async () => {
    const idle = await platform.createBot()
    const { body } = await platform.ask('GET', '/v1/admin/bots/health')
    expect(body.bots).toMatchObject([
      { botId: idle.id, errorRate: null, p50: null, p95: null, waiting: 0 },
      { botId: bot.id, events: { processed: 3, failed: 2 }, errorRate: 0.4, lastEventAt: expect.any(String) },
    ])
    const { eventsPerMinute } = body.bots[1]
    expect(eventsPerMinute).toHaveLength(60)
    expect(eventsPerMinute.reduce((sum: number, count: number) => sum + count, 0)).toBe(5)
    const first = (await platform.ask('GET', '/v1/admin/bots/health?pageSize=1')).body
    const next = `/v1/admin/bots/health?pageSize=1&nextToken=${first.meta.nextToken}`
    expect([...first.bots, ...(await platform.ask('GET', next)).body.bots].map(({ botId }) => botId)).toEqual([
      idle.id,
      bot.id,
    ])
    const theirs = await platform.ask('GET', '/v1/admin/bots/health', undefined, stranger)
    expect(theirs.body.bots).toEqual([])
  })
})

test('installations are listed with their schedule and the last results of register()', async () => {
  const code = `
    export async function register({ client }) { await client.configureIntegration({ scheduleRegisterCall: 'daily' }) }`
  const { integrationId } = await installCode(platform, bot.id, code)
  const failing = `export function register() { throw new Error('no shop') }`
  await installCode(platform, bot.id, failing, { alias: 'broken', configuration: { token: 'hidden' } })
  await expect.poll(async () => (await installations())[1].nextRegisterAt, { timeout: 10_000 }).toBeTypeOf('string')
  const [chat, tool, broken] = await installations()
  expect(chat).toMatchObject({ alias: 'chat', name: 'chat', enabled: true, registrations: [] })
  expect(tool).toMatchObject({
    alias: 'tool',
    version: '1.0.0',
    integrationId,
    status: 'registered',
    schedule: 'daily',
    registerFailures: 0,
    registrations: [{ type: 'register', status: 'processed', milliseconds: expect.any(Number) }],
  })
  expect(broken).toMatchObject({
    status: 'registration_failed',
    registerFailures: 1,
    registrations: [{ status: 'failed', failureReason: expect.stringContaining('no shop') }],
  })
  expect(JSON.stringify(await installations())).not.toContain('hidden')
})

describe('a bot’s log, followed', () => {
  const timeStart = new Date(0).toISOString()
  let quiet: DeployedBot
  beforeAll(async () => {
    quiet = await platform.createBot()
    await platform.context.db('logs').insert(['a', 'b', 'c', 'd'].map((message) => line(message)))
  })
  const follow = async (query: string) => {
    const path = `/v1/admin/bots/${quiet.id}/logs/new?${query}`
    const { status, body } = await platform.ask('GET', path, undefined, viewer)
    expect({ status, body }).toMatchObject({ status: 200 })
    const lines: string[] = body.logs.map(({ message }: { message: string }) => message)
    return { lines, next: String(body.next), isCut: Boolean(body.isCut) }
  }
  const line = (message: string, level: 'info' | 'warn' = 'info') => ({
    bot_id: quiet.id,
    level,
    message,
    created_at: new Date(),
  })

  test('gives each line once, also one that was begun before others and is stored after them', async () => {
    const { db } = platform.context
    const begun = await follow('pageSize=3')
    expect(begun.lines).toEqual(['b', 'c', 'd'])
    const late = await db.transaction()
    await late('logs').insert(line('late'))
    await db('logs').insert(line('early'))
    const first = await follow(`after=${begun.next}`)
    await late.commit()
    const second = await follow(`after=${first.next}`)
    await db('logs').insert(line('last'))
    const third = await follow(`after=${second.next}`)
    const fourth = await follow(`after=${third.next}`)
    expect([first.lines, second.lines, third.lines]).toEqual([['early'], ['late'], ['last']])
    expect(fourth).toMatchObject({ lines: [], isCut: false })
  })

  test('begins with the stored entries, and sends none twice that is stored meanwhile', async () => {
    const { db } = platform.context
    const held = await db.transaction()
    await held('logs').insert(line('held'))
    await db('logs').insert(line('told'))
    const begun = await follow('pageSize=1')
    await held.commit()
    const after = await follow(`after=${begun.next}`)
    expect([begun.lines, after.lines]).toEqual([['told'], ['held']])

    const position = await logPosition(db)
    await db('logs').insert(line('in between'))
    const first = await pageOfLogs(db, quiet.id, { timeStart, seenAt: position.snapshot }, { limit: 9 })
    const { rows } = await readLogTail(db, quiet.id, {}, { after: position, limit: 9 })
    const messages = [...first.rows, ...rows].map(({ message }) => message)
    expect(messages.filter((message) => message === 'in between')).toHaveLength(1)
  })

  test('is narrowed by the least level, words and event, and says when it left lines out', async () => {
    const { db } = platform.context
    const { next } = await follow('')
    const eventId = newId('evt')
    await db('logs').insert([line('one'), line('TWO', 'warn'), { ...line('three'), event_id: eventId }])
    expect((await follow(`after=${next}&level=warn`)).lines).toEqual(['TWO'])
    expect((await follow(`after=${next}&messageContains=two`)).lines).toEqual(['TWO'])
    expect((await follow(`after=${next}&eventId=${eventId}`)).lines).toEqual(['three'])
    await db('logs').insert(Array.from({ length: 1001 }, (_none, index) => line(String(index))))
    const much = await follow(`after=${next}`)
    expect(much.isCut).toBe(true)
    expect(much.lines).toHaveLength(1000)
    expect(much.lines.at(-1)).toBe('1000')
    for (const after of ['nonsense', '1 9:3:', '1 3:9:8,4', '1 3:9:12', '1 0:9:', '1 3:9:,']) {
      const forged = Buffer.from(after).toString('base64url')
      expect(await ask(`/logs/new?after=${forged}`)).toMatchObject({ status: 400, body: { type: 'InvalidQuery' } })
    }
  })
})

test('no member sees a bot of another workspace, and viewers see no payloads', async () => {
  const [{ id }] = (await ask('/events?pageSize=1')).body.events
  const paths = ['/events', `/events/${id}`, '/errors', '/health', '/installations', '/logs/new']
  for (const path of paths) expect(await ask(path, stranger)).toMatchObject({ status: 404 })
  expect(await ask(`/events/${id}`, viewer)).toMatchObject({ status: 403 })
  const other = await platform.createBot()
  expect(await platform.ask('GET', `/v1/admin/bots/${other.id}/events/${id}`)).toMatchObject({ status: 404 })
  expect((await platform.ask('GET', `/v1/admin/bots/${other.id}/events?text=${id}`)).body.events).toEqual([])
  const theirs = `/v1/admin/bots/${other.id}/events?conversationId=${conversationId}`
  expect((await platform.ask('GET', theirs)).body.events).toEqual([])
})

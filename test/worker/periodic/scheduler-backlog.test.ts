import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { setRecurringEvents } from '#shared/store/recurring-events.ts'
import type { EventStatus } from '#shared/models/tables.ts'
import { look } from '../../../worker/periodic/scheduler.ts'
import { startWorker } from '../../../worker/worker.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../support/platform.ts'

const most = 20
/** The upper bound with due events: they may exceed the limit by a tenth, and so may the events that one process accepts. */
const maxWithDue = 26

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ worker: false, environment: { BOT_WAITING_EVENTS: String(most) } })
})
afterAll(() => platform[Symbol.asyncDispose]())

const events = (bot: DeployedBot) => platform.context.db('events').where({ bot_id: bot.id })

async function countOf(bot: DeployedBot, status: EventStatus): Promise<number> {
  return (await events(bot).where({ status }).select('id')).length
}

/** An event in a mailbox of its own. */
function newTick(bot: DeployedBot) {
  const id = newId('evt')
  return { id, bot_id: bot.id, mailbox: id, type: 'tick', payload: {} }
}

/** Stores events of a bot, each in a mailbox of its own. */
async function store(bot: DeployedBot, count: number, fields: object): Promise<void> {
  const rows = Array.from({ length: count }, () => ({ ...newTick(bot), ...fields }))
  await platform.context.db('events').insert(rows)
}

const longAgo = new Date(0)
const due = { status: 'scheduled', available_at: longAgo } as const

async function createFullBot(): Promise<DeployedBot> {
  const bot = await platform.createBot()
  await store(bot, 40, { status: 'pending' })
  return bot
}

/** A process lets a tenth of the cap in before it looks how many events wait. */
async function untilKnownFull({ id }: DeployedBot): Promise<void> {
  const { waiting, db } = platform.context
  const admitted = async () => waiting.admitDue(db, id, async () => true).catch(() => false)
  await expect.poll(admitted, { interval: 1 }).toBe(false)
}

/** Calls what one worker does each second, until nothing more comes of it. */
async function lookOften(): Promise<void> {
  for (let looks = 0; looks < 3; looks++) await look(platform.context)
}

describe('due events of a bot whose backlog is full', () => {
  test('waits: scheduled and recurring events, expired states and overdue workflows stay as they are', async () => {
    const bot = await createFullBot()
    const { db } = platform.context
    const asBot = { 'x-bot-id': bot.id }
    await store(bot, 10, due)
    await setRecurringEvents(db, bot.id, { report: { schedule: { cron: '0 9 * * *' }, type: 'report', payload: {} } })
    await db('recurring_events').where({ bot_id: bot.id }).update({ next_at: longAgo })
    const state = { payload: {}, expiry: 3_600_000 }
    await platform.ask('POST', `/v1/chat/states/bot/${bot.id}/cart`, state, asBot)
    await db('states').where({ bot_id: bot.id }).update({ expires_at: longAgo })
    await db('workflows').insert({
      id: newId('workflow'),
      bot_id: bot.id,
      name: 'w',
      status: 'paused',
      timeout_at: longAgo,
    })

    await untilKnownFull(bot)
    await lookOften()
    expect(await countOf(bot, 'pending')).toBe(40)
    expect(await countOf(bot, 'scheduled')).toBe(10)
    expect(await db('recurring_events').where({ bot_id: bot.id })).toMatchObject([{ next_at: longAgo }])
    expect(await db('states').where({ bot_id: bot.id })).toHaveLength(1)
    expect(await db('workflows').where({ bot_id: bot.id })).toMatchObject([{ status: 'paused' }])

    await events(bot).where({ status: 'pending' }).delete()
    const lookAgain = async () => {
      await look(platform.context)
      return countOf(bot, 'scheduled')
    }
    await expect.poll(lookAgain, { timeout: 10_000, interval: 200 }).toBe(0)
    const types = new Set((await events(bot)).map(({ type }) => type))
    expect(types).toEqual(new Set(['report', 'state_expired', 'tick', 'workflow_update']))
    expect(await events(bot)).toHaveLength(13)
  })

  test('comes in as far as there is room, and a little before what comes anew, until all is handled', async () => {
    const bot = await platform.createBot()
    await store(bot, 60, due)
    await lookOften()
    const waiting = await countOf(bot, 'pending')
    expect(waiting).toBeGreaterThanOrEqual(most)
    expect(waiting).toBeLessThanOrEqual(maxWithDue)
    const ask = async () =>
      (await platform.ask('POST', '/v1/chat/events', { type: 'tick', payload: {} }, { 'x-bot-id': bot.id })).status
    await expect.poll(ask, { interval: 1 }).toBe(429)
    const accepted = (await events(bot)).length
    await using worker = new AsyncDisposableStack()
    worker.use(await startWorker(platform.context))
    await expect.poll(() => events(bot).whereNull('ended_at').select('id'), { timeout: 30_000 }).toEqual([])
    expect(await events(bot)).toHaveLength(accepted)
  })

  test('keeps nothing waiting of another bot, however much of it is due', async () => {
    const full = await createFullBot()
    await store(full, 1200, due)
    const other = await platform.createBot()
    await store(other, 1, { ...due, available_at: new Date(1000) })
    await look(platform.context)
    expect(await countOf(other, 'scheduled')).toBe(0)
    expect(await countOf(full, 'scheduled')).toBeGreaterThan(1190)
  })
})

test('a bot with many due rows leaves time to the other kinds of its rows and to other bots, look by look', async () => {
  await using roomy = await openPlatform({ worker: false })
  const { db } = roomy.context
  const busy = await roomy.createBot()
  const rows = Array.from({ length: 700 }, () => ({ ...newTick(busy), ...due }))
  await db('events').insert(rows)
  const other = await roomy.createBot()
  await db('events').insert({ ...newTick(other), ...due, available_at: new Date(1000) })
  await setRecurringEvents(db, busy.id, { report: { schedule: { cron: '0 9 * * *' }, type: 'report', payload: {} } })
  await db('recurring_events').where({ bot_id: busy.id }).update({ next_at: longAgo })

  const scheduled = async (bot: DeployedBot) =>
    (await db('events').where({ bot_id: bot.id, status: 'scheduled' }).select('id')).length
  expect(await look(roomy.context)).toBe(true)
  expect(await scheduled(other)).toBe(0)
  expect(await db('events').where({ bot_id: busy.id, type: 'report' })).toHaveLength(1)
  const left = await scheduled(busy)
  expect(left).toBeGreaterThan(500)

  while (await look(roomy.context)) expect(await scheduled(busy)).toBeLessThan(700)
  expect(await scheduled(busy)).toBe(0)
})

test('failed events are replayed as far as there is room, then refused, and stay replayable', async () => {
  const bot = await platform.createBot()
  await store(bot, 15, { status: 'pending' })
  const failed = { status: 'failed', ended_at: new Date(), failure_reason: 'Error: no' }
  await store(bot, 50, failed)
  const replay = () => platform.ask('POST', `/v1/admin/bots/${bot.id}/failed-events/replay`, {})
  const untilRefused = async () => {
    for (let replayed = 0; ;) {
      const { status, body, headers } = await replay()
      if (status !== 200) return { replayed, status, body, headers }
      expect(body.replayed).toBeGreaterThan(0)
      replayed += body.replayed
    }
  }
  const first = await untilRefused()
  expect(first).toMatchObject({ status: 429, body: { type: 'RateLimited' } })
  expect(first.headers.get('retry-after')).toBe('1')
  expect(first.replayed).toBeGreaterThanOrEqual(5)
  expect(first.replayed).toBeLessThanOrEqual(5 + 4)
  expect(await countOf(bot, 'failed')).toBe(50 - first.replayed)
  const [one] = await events(bot).where({ status: 'failed' })
  expect((await platform.ask('POST', `/v1/admin/bots/${bot.id}/failed-events/${one!.id}/replay`, {})).status).toBe(429)

  await events(bot).where({ status: 'pending' }).update({ status: 'processed', ended_at: new Date() })
  const next = async () => (await replay()).body.replayed
  await expect.poll(next, { timeout: 10_000, interval: 200 }).toBeGreaterThan(0)
})

/** A workflow for which a look is due. */
function newWorkflow({ id }: DeployedBot) {
  const times = { timeout_at: new Date(Date.now() + 3_600_000), continues_at: new Date() }
  return { id: newId('workflow'), bot_id: id, name: 'w', ...times }
}

test('workflows of a bot that cannot go on yet do not delay those of other bots', async () => {
  const [bot, other] = await Promise.all([platform.createBot(), platform.createBot()])
  const { db } = platform.context
  const heard = newTick(bot)
  await db('events').insert({ ...heard, status: 'pending' })
  const waiting = { status: 'listening', heard_event_id: heard.id, continues_at: longAgo } as const
  await db('workflows').insert(Array.from({ length: 2000 }, () => ({ ...newWorkflow(bot), ...waiting })))
  await db('workflows').insert({ ...newWorkflow(other), status: 'in_progress' })
  await look(platform.context)
  expect(await countOf(other, 'pending')).toBe(1)
  expect(await countOf(bot, 'pending')).toBe(1)
})

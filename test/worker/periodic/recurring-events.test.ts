import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { newId } from '#shared/ids.ts'
import {
  dueRecurringEvents,
  fireRecurringEvent,
  listRecurringEvents,
  setRecurringEvents,
} from '#shared/store/recurring-events.ts'
import { longAgo, openSchedulerFixture, type SchedulerFixture } from './fixture.ts'

let fixture: SchedulerFixture
beforeAll(async () => {
  fixture = await openSchedulerFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const name = 'report'
const report = { schedule: { cron: '0 9 * * *' }, type: 'report', payload: { of: 'today' } }
const recurring = async () => (await listRecurringEvents(fixture.db, fixture.bot.id))[0]
const fired = () => fixture.db('events').where({ bot_id: fixture.bot.id, type: 'report' }).orderBy(['created_at', 'id'])
const makeDue = () => fixture.db('recurring_events').where({ bot_id: fixture.bot.id }).update({ next_at: longAgo })

beforeEach(async () => {
  await fixture.db('events').where({ bot_id: fixture.bot.id, type: 'report' }).delete()
  await setRecurringEvents(fixture.db, fixture.bot.id, { report: null })
  await setRecurringEvents(fixture.db, fixture.bot.id, { report })
})

test('fires once for all the times that were missed, and then at the next one', async () => {
  await fixture.look()
  expect(await fired()).toEqual([])
  await makeDue()
  await fixture.look()
  expect(await fired()).toMatchObject([{ type: 'report', payload: { of: 'today' }, conversation_id: null }])
  const next = (await recurring())!.next_at
  expect(next.getTime()).toBeGreaterThan(Date.now())
  expect(next.toISOString()).toMatch(/T09:00:00\.000Z$/)
  await fixture.look()
  expect(await fired()).toHaveLength(1)
  await expect.poll(async () => (await fired())[0]?.status).toBe('ignored')
})

test('has its next time by the clock of the database, although the clocks of processes differ from it', async () => {
  const hourly = { report: { ...report, schedule: { cron: '0 * * * *' } } }
  for (const hours of [-3, 3]) {
    const atOtherTime = async (work: () => Promise<unknown>) => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * 3_600_000 })
      await work().finally(() => vi.useRealTimers())
      const next = (await recurring())!.next_at.getTime()
      expect(next).toBeGreaterThan(Date.now() - 1000)
      expect(next).toBeLessThanOrEqual(Date.now() + 3_600_000)
    }
    await setRecurringEvents(fixture.db, fixture.bot.id, { report: null })
    await atOtherTime(() => setRecurringEvents(fixture.db, fixture.bot.id, hourly))
    await makeDue()
    await atOtherTime(() => fixture.look())
  }
})

test('fires once although several workers have found it due', async () => {
  await using idle = await openSchedulerFixture({ worker: false })
  await setRecurringEvents(idle.db, idle.bot.id, { report })
  await idle.db('recurring_events').update({ next_at: longAgo })
  const [found] = await dueRecurringEvents(idle.db, { limit: 1, exceptBots: [] })
  const fire = () => fireRecurringEvent(idle.db, found!, newId('evt'), new Date(Date.now() + 1000))
  expect([await fire(), await fire()]).toEqual([expect.any(String), undefined])
  expect(await idle.db('events').where({ type: 'report' })).toHaveLength(1)
})

test('fires when it would have although something else of it is changed', async () => {
  const soon = new Date(Date.now() + 5_000)
  await fixture.db('recurring_events').where({ bot_id: fixture.bot.id }).update({ next_at: soon })
  await setRecurringEvents(fixture.db, fixture.bot.id, { report: { ...report, payload: { of: 'tomorrow' } } })
  expect(await recurring()).toMatchObject({ next_at: soon, payload: { of: 'tomorrow' } })
  await setRecurringEvents(fixture.db, fixture.bot.id, {
    report: { ...report, schedule: { cron: '0 10 * * *' } },
    other: null,
  })
  expect((await recurring())!.next_at.toISOString()).toMatch(/T10:00/)
  await setRecurringEvents(fixture.db, fixture.bot.id, { other: report })
  expect((await listRecurringEvents(fixture.db, fixture.bot.id)).map((one) => one.name)).toEqual(['other', name])
  await setRecurringEvents(fixture.db, fixture.bot.id, { other: null })
})

test('reports how often and why its firings have failed', async () => {
  const endLast = async (end: object) => {
    await expect.poll(async () => (await fired()).at(-1)?.status).toBe('ignored')
    await fixture
      .db('events')
      .where({ id: (await fired()).at(-1)!.id })
      .update(end)
  }
  for (const reason of ['no paper', 'no ink']) {
    await makeDue()
    await fixture.look()
    await endLast({ status: 'failed', failure_reason: reason })
  }
  expect(await recurring()).toMatchObject({ failed_attempts: 2, last_failure_reason: 'no ink' })
  await makeDue()
  await fixture.look()
  expect(await recurring()).toMatchObject({ failed_attempts: 2, last_failure_reason: 'no ink' })
})

test('that means no time is refused', async () => {
  const never = { ...report, schedule: { cron: '0 0 30 2 *' } }
  await expect(setRecurringEvents(fixture.db, fixture.bot.id, { never })).rejects.toMatchObject({
    type: 'InvalidPayload',
  })
})

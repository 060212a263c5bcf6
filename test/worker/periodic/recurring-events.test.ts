import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import {
  dueRecurringEvents,
  fireRecurringEvent,
  listRecurringEvents,
  setRecurringEvents,
} from '#shared/store/recurring-events.ts'
import { longAgo, openDueScene, type DueScene } from './fixture.ts'

let scene: DueScene
beforeAll(async () => {
  scene = await openDueScene()
})
afterAll(() => scene[Symbol.asyncDispose]())

const name = 'report'
const report = { schedule: { cron: '0 9 * * *' }, type: 'report', payload: { of: 'today' } }
const recurring = async () => (await listRecurringEvents(scene.db, scene.bot.id))[0]
const fired = () => scene.db('events').where({ bot_id: scene.bot.id, type: 'report' }).orderBy(['created_at', 'id'])
const makeDue = () => scene.db('recurring_events').where({ bot_id: scene.bot.id }).update({ next_at: longAgo })

beforeEach(async () => {
  await scene.db('events').where({ bot_id: scene.bot.id, type: 'report' }).delete()
  await setRecurringEvents(scene.db, scene.bot.id, { report: null })
  await setRecurringEvents(scene.db, scene.bot.id, { report })
})

test('fires once for all the times that were missed, and then at the next one', async () => {
  await scene.look()
  expect(await fired()).toEqual([])
  await makeDue()
  await scene.look()
  expect(await fired()).toMatchObject([{ type: 'report', payload: { of: 'today' }, conversation_id: null }])
  const next = (await recurring())!.next_at
  expect(next.getTime()).toBeGreaterThan(Date.now())
  expect(next.toISOString()).toMatch(/T09:00:00\.000Z$/)
  await scene.look()
  expect(await fired()).toHaveLength(1)
  await expect.poll(async () => (await fired())[0]?.status).toBe('ignored')
})

test('fires once although several workers have found it due', async () => {
  await using idle = await openDueScene({ worker: false })
  await setRecurringEvents(idle.db, idle.bot.id, { report })
  await idle.db('recurring_events').update({ next_at: longAgo })
  const [found] = await dueRecurringEvents(idle.db, { limit: 1, fullBots: [] })
  const fire = () => fireRecurringEvent(idle.db, found!, newId('evt'), new Date(Date.now() + 1000))
  expect([await fire(), await fire()]).toEqual([expect.any(String), undefined])
  expect(await idle.db('events').where({ type: 'report' })).toHaveLength(1)
})

test('fires when it would have although something else of it is changed', async () => {
  const soon = new Date(Date.now() + 5_000)
  await scene.db('recurring_events').where({ bot_id: scene.bot.id }).update({ next_at: soon })
  await setRecurringEvents(scene.db, scene.bot.id, { report: { ...report, payload: { of: 'tomorrow' } } })
  expect(await recurring()).toMatchObject({ next_at: soon, payload: { of: 'tomorrow' } })
  await setRecurringEvents(scene.db, scene.bot.id, {
    report: { ...report, schedule: { cron: '0 10 * * *' } },
    other: null,
  })
  expect((await recurring())!.next_at.toISOString()).toMatch(/T10:00/)
  await setRecurringEvents(scene.db, scene.bot.id, { other: report })
  expect((await listRecurringEvents(scene.db, scene.bot.id)).map((one) => one.name)).toEqual(['other', name])
  await setRecurringEvents(scene.db, scene.bot.id, { other: null })
})

test('tells how often and why its firings have failed', async () => {
  const endLast = async (end: object) => {
    await expect.poll(async () => (await fired()).at(-1)?.status).toBe('ignored')
    await scene
      .db('events')
      .where({ id: (await fired()).at(-1)!.id })
      .update(end)
  }
  for (const reason of ['no paper', 'no ink']) {
    await makeDue()
    await scene.look()
    await endLast({ status: 'failed', failure_reason: reason })
  }
  expect(await recurring()).toMatchObject({ failed_attempts: 2, last_failure_reason: 'no ink' })
  await makeDue()
  await scene.look()
  expect(await recurring()).toMatchObject({ failed_attempts: 2, last_failure_reason: 'no ink' })
})

test('that means no time is refused', async () => {
  const never = { ...report, schedule: { cron: '0 0 30 2 *' } }
  await expect(setRecurringEvents(scene.db, scene.bot.id, { never })).rejects.toMatchObject({ type: 'InvalidPayload' })
})

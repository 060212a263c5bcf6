import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { newId } from '#shared/ids.ts'
import type { Database } from '#shared/store/database.ts'
import { installIntegration } from '../../shared/operations/runtime/clients.ts'
import { longAgo, openSchedulerFixture, type SchedulerFixture } from './fixture.ts'

let fixture: SchedulerFixture
let conversationId: string
beforeAll(async () => {
  fixture = await openSchedulerFixture()
})
beforeEach(async () => {
  conversationId = await fixture.chatUser.createConversation()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const inAnHour = { delay: 3_600_000 }

const scheduleEvent = async () =>
  (await fixture.ask('POST', '/events', { type: 'later', payload: {}, conversationId, schedule: inAnHour })).event.id
const eventsHere = () => fixture.db('events').where({ conversation_id: conversationId }).orderBy(['created_at', 'id'])

describe('a scheduled event', () => {
  test('waits until its time, and then takes its place after all that came before', async () => {
    const id = await scheduleEvent()
    await fixture.look()
    expect(await eventsHere()).toMatchObject([{ id, status: 'scheduled' }])
    const { event } = await fixture.ask('POST', '/events', { type: 'between', payload: {}, conversationId })
    await fixture.db('events').where({ id }).update({ available_at: longAgo })
    await fixture.look()
    const [between, later] = await eventsHere()
    expect([between!.id, later!.id]).toEqual([event.id, id])
    expect(later!.created_at.getTime()).toBeGreaterThan(between!.created_at.getTime())
    await expect.poll(async () => (await fixture.ask('GET', `/events/${id}`)).event.status).toBe('ignored')
  })

  test('is due after its delay by the clock of the database, although the clocks of processes differ from it', async () => {
    const { database } = fixture.platform.context.dependencies
    const schedule = { delay: 60_000 }
    for (const hours of [-3, 3]) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * 3_600_000 })
      try {
        // The first ping tells.
        const isKnown = () => Math.abs(database.clockDifference() + hours * 3_600_000) < 60_000
        await vi.waitUntil(isKnown, { timeout: 10_000 })
        await fixture.ask('POST', '/events', { type: 'later', payload: {}, conversationId, schedule })
      } finally {
        vi.useRealTimers()
      }
    }
    for (const { available_at: dueAt } of await eventsHere()) {
      expect(Math.abs(dueAt.getTime() - Date.now() - schedule.delay)).toBeLessThan(15_000)
    }
    await vi.waitUntil(() => Math.abs(database.clockDifference()) < 1000, { timeout: 10_000 })
    expect(await eventsHere()).toHaveLength(2)
  })

  test('that was cancelled never happens', async () => {
    const id = await scheduleEvent()
    await fixture.ask('DELETE', `/events/scheduled/${id}`)
    await fixture.db('events').where({ id }).update({ available_at: longAgo })
    await fixture.look()
    expect(await eventsHere()).toMatchObject([{ id, status: 'canceled', attempt: 0 }])
  })

  test('without a conversation has a mailbox of its own', async () => {
    const { event } = await fixture.ask('POST', '/events', { type: 'later', payload: {}, schedule: { delay: 0 } })
    await fixture.look()
    await expect.poll(async () => (await fixture.ask('GET', `/events/${event.id}`)).event.status).toBe('ignored')
  })
})

const scheduleMessage = async () =>
  (
    await fixture.ask('POST', '/messages', {
      conversationId,
      userId: fixture.bot.id,
      type: 'text',
      payload: { text: 'good morning' },
      tags: { mood: 'fresh' },
      schedule: inAnHour,
    })
  ).message.id
const makeDue = () => fixture.db('events').where({ conversation_id: conversationId }).update({ available_at: longAgo })

async function isLockAwaited(db: Database): Promise<boolean> {
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  const { rows } = (await db.raw(`select exists (${waiting}) as waits`)) as { rows: { waits: boolean }[] }
  return rows[0]!.waits
}

describe('a scheduled message', () => {
  test('is said once, by the id that it was given, when its time has come', async () => {
    const id = await scheduleMessage()
    await fixture.look()
    expect(await fixture.chatUser.messages(conversationId)).toEqual([])
    await makeDue()
    await fixture.look()
    expect(await fixture.chatUser.messages(conversationId)).toMatchObject([
      { id, text: 'good morning', userId: fixture.bot.id },
    ])
    expect((await fixture.ask('GET', `/messages/${id}`)).message).toMatchObject({
      direction: 'outgoing',
      tags: { mood: 'fresh' },
    })
    expect(await fixture.db('events').where({ conversation_id: conversationId })).toMatchObject([
      { status: 'processed' },
    ])
  })

  test('is not said when it was cancelled', async () => {
    await scheduleMessage()
    const { events } = await fixture.ask('GET', `/events?conversationId=${conversationId}&status=scheduled`)
    await fixture.ask('DELETE', `/events/scheduled/${events[0].id}`)
    await makeDue()
    await fixture.look()
    expect(await fixture.chatUser.messages(conversationId)).toEqual([])
  })

  test('is not said when it is cancelled at the moment in which a worker is about to say it', async () => {
    await scheduleMessage()
    const looking = await fixture.db.transaction(async (transaction) => {
      await transaction('conversations').where({ id: conversationId }).forUpdate()
      await makeDue()
      const waiting = fixture.look()
      await expect.poll(() => isLockAwaited(transaction)).toBe(true)
      await transaction('events').where({ conversation_id: conversationId }).update({ status: 'canceled' })
      return { waiting }
    })
    await looking.waiting
    expect(await fixture.chatUser.messages(conversationId)).toEqual([])
  })

  test('of an integration whose user is deleted fails, and holds up nothing', async () => {
    const integration = await installIntegration(fixture.platform, fixture.bot.id, newId('check'))
    const here = {
      id: newId('conv'),
      bot_id: fixture.bot.id,
      installation_id: integration.installationId,
      channel: 'mail',
    }
    await fixture.db('conversations').insert(here)
    const user = { id: newId('user'), bot_id: fixture.bot.id, installation_id: integration.installationId }
    await fixture.db('users').insert(user)
    const given = { conversationId: here.id, userId: user.id, type: 'mail', payload: {}, schedule: { delay: 0 } }
    expect(await integration.ask('POST', '/v1/chat/messages', given)).toMatchObject({ status: 201 })
    await fixture.db('users').where({ id: user.id }).delete()
    await fixture.look()
    expect(await fixture.db('events').where({ conversation_id: here.id })).toMatchObject([
      { status: 'failed', failure_reason: expect.stringContaining('deleted') },
    ])
  })
})

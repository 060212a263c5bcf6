import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { expiredStates, expireState } from '#shared/store/expired-states.ts'
import { setRecurringEvents } from '#shared/store/recurring-events.ts'
import { installIntegration } from '../../shared/operations/runtime/clients.ts'
import { endedEvents } from '../../support/outcomes.ts'
import { openPlatform } from '../../support/platform.ts'
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

const setState = async (type: string, id: string, stateName = newId('state')) => {
  const { state } = await fixture.ask('POST', `/states/${type}/${id}/${stateName}`, {
    payload: { n: 1 },
    expiry: 3_600_000,
  })
  return state
}
const expire = (id: string) => fixture.db('states').where({ id }).update({ expires_at: longAgo })
const eventsOfState = async (id: string) =>
  (await fixture.db('events').where({ bot_id: fixture.bot.id, type: 'state_expired' })).filter(
    ({ payload }) => (payload['state'] as { id: string }).id === id,
  )

describe('a state that expires', () => {
  test('is reported once, in its conversation, with all of its fields', async () => {
    const state = await setState('conversation', conversationId)
    await fixture.look()
    expect(await eventsOfState(state.id)).toEqual([])
    await expire(state.id)
    await fixture.look()
    expect(await eventsOfState(state.id)).toMatchObject([
      {
        mailbox: conversationId,
        conversation_id: conversationId,
        payload: { state: { ...state, expiresAt: longAgo.toISOString() } },
      },
    ])
    expect(await fixture.db('states').where({ id: state.id })).toEqual([])
    await expect.poll(async () => (await eventsOfState(state.id))[0]?.status).toBe('ignored')
  })

  test('of a user or the bot is reported too', async () => {
    for (const [type, id] of [
      ['user', fixture.chatUser.userId],
      ['bot', fixture.bot.id],
    ] as const) {
      const state = await setState(type, id)
      await expire(state.id)
      await fixture.look()
      expect(await eventsOfState(state.id)).toMatchObject([
        { user_id: type === 'user' ? id : null, payload: { state: { name: state.name, type } } },
      ])
    }
  })

  test('is gone without a word when it was a session, an integration’s, or of a deleted conversation', async () => {
    const integration = await installIntegration(fixture.platform, fixture.bot.id, newId('check'))
    const theirs = await integration.ask('POST', `/v1/chat/states/bot/${fixture.bot.id}/theirs`, {
      payload: {},
      expiry: 1000,
    })
    const orphaned = await fixture.chatUser.createConversation()
    const ids = [
      (theirs.body as { state: { id: string } }).state.id,
      (await setState('conversation', conversationId, 'session')).id,
      (await setState('conversation', orphaned)).id,
    ]
    await fixture.db('conversations').where({ id: orphaned }).delete()
    for (const id of ids) await expire(id)
    await fixture.look()
    expect(await fixture.db('states').whereIn('id', ids)).toEqual([])
    for (const id of ids) expect(await eventsOfState(id)).toEqual([])
  })

  test('stays when it is changed between being found and being swept', async () => {
    await using idle = await openSchedulerFixture({ worker: false })
    const path = `/states/bot/${idle.bot.id}/touched`
    const { state } = await idle.ask('POST', path, { payload: {}, expiry: 3_600_000 })
    await idle.db('states').where({ id: state.id }).update({ expires_at: longAgo })
    const [found] = await expiredStates(idle.db, { limit: 1, exceptBots: [] })
    await idle.ask('POST', path, { payload: {}, expiry: 3_600_000 })
    const event = { id: newId('evt'), type: 'state_expired', payload: {} }
    expect(await expireState(idle.db, found!, event)).toBeUndefined()
    expect(await idle.db('states').where({ id: state.id })).toHaveLength(1)
  })
})

const createWorkflow = async (given: object) =>
  (await fixture.ask('POST', '/workflows', { name: 'order', status: 'listening', ...given })).workflow.id
const runOut = (id: string) => fixture.db('workflows').where({ id }).update({ timeout_at: longAgo })
const eventsOfWorkflow = (id: string) => fixture.db('events').where({ workflow_id: id }).orderBy(['created_at', 'id'])

describe('a workflow whose time is over', () => {
  test('ends once, and the bot and its parent receive the end', async () => {
    const parent = await createWorkflow({ conversationId })
    const child = await createWorkflow({ parentWorkflowId: parent })
    await fixture.look()
    expect(await eventsOfWorkflow(child)).toEqual([])
    await runOut(child)
    await fixture.look()
    expect((await fixture.ask('GET', `/workflows/${child}`)).workflow).toMatchObject({
      status: 'timedout',
      completedAt: expect.any(String),
    })
    expect(await eventsOfWorkflow(child)).toMatchObject([
      { payload: { type: 'workflow_timedout', workflow: { id: child, status: 'timedout' } } },
    ])
    expect(await eventsOfWorkflow(parent)).toMatchObject([
      { mailbox: conversationId, payload: { type: 'child_workflow_finished', childWorkflow: { id: child } } },
    ])
  })

  test('has ended before, or has been given more time, and stays as it is', async () => {
    const ended = await createWorkflow({})
    await fixture.ask('PUT', `/workflows/${ended}`, { status: 'completed' })
    await runOut(ended)
    const prolonged = await createWorkflow({ timeoutAt: new Date(Date.now() + 1000).toISOString() })
    await fixture.ask('PUT', `/workflows/${prolonged}`, { timeoutAt: new Date(Date.now() + 3_600_000).toISOString() })
    await fixture.look()
    expect((await fixture.ask('GET', `/workflows/${ended}`)).workflow.status).toBe('completed')
    expect((await fixture.ask('GET', `/workflows/${prolonged}`)).workflow.status).toBe('listening')
  })
})

test('a worker runs due work by itself, and the bot’s code receives it', async () => {
  await using platform = await openPlatform()
  const bot = await platform.createBot(`
    export const hooks = {
      async afterIncomingEvent({ event, client }) {
        if (event.type !== 'begin') return
        await client.createEvent({ type: 'reminder', payload: { n: 1 }, schedule: { delay: 10 } })
        await client.setState({ type: 'bot', id: event.botId, name: 'short', payload: { lived: true }, expiry: 10 })
        await client.createWorkflow({ name: 'hasty', status: 'listening', timeoutAt: new Date().toISOString() })
      },
    }`)
  await setRecurringEvents(platform.context.db, bot.id, {
    tick: { type: 'tick', payload: {}, schedule: { cron: '* * * * *' } },
  })
  await platform.context.db('recurring_events').update({ next_at: new Date(0) })
  await platform.ask('POST', '/v1/chat/events', { type: 'begin', payload: {} }, { 'x-bot-id': bot.id })
  const events = await endedEvents(platform, bot.id, 5)
  expect(events.map(({ type }) => type).toSorted()).toEqual([
    'begin',
    'reminder',
    'state_expired',
    'tick',
    'workflow_update',
  ])
  expect(events.every(({ status }) => status === 'processed')).toBe(true)
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { completeEvents, type EventCompletion, type StateChange } from '#shared/store/complete-events.ts'
import { insertEvent } from '#shared/store/events.ts'
import { claimNextEvents, overdueMailboxes } from '#shared/store/mailboxes.ts'
import { insertRegistration } from '#shared/store/registrations.ts'
import { createChatUser } from '../../support/chat-client.ts'
import { installIntegration, storeIntegration } from '../../support/install-integration.ts'
import { endedEvents, replies } from '../../support/outcomes.ts'
import { backEnds, openPlatform, type Platform } from '../../support/platform.ts'

describe.each(backEnds)('a conversation on %s', (backEnd) => {
  let platform: Platform
  beforeAll(async () => {
    platform = await openPlatform({ backEnd })
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  test('has its events handled in order, one after the other, however many arrive at once', async () => {
    const bot = await platform.createBot(`
      let running = 0
      export const hooks = {
        async afterIncomingMessage({ event, client }) {
          running++
          await new Promise((resolve) => setTimeout(resolve, 5))
          const text = event.preview + ' ' + running
          await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
          running--
        },
      }`)
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    await Promise.all(Array.from({ length: 120 }, (_, index) => chatUser.send(conversationId, String(index))))
    await endedEvents(platform, bot.id, 120)
    const asked = (await chatUser.messages(conversationId)).filter(({ userId }) => userId === chatUser.userId)
    expect(await replies(platform, conversationId)).toEqual(asked.map(({ text }) => `${text} 1`))
  })

  test('does not wait for others: fifty run at the same time', async () => {
    const bot = await platform.createBot(`
      let waiting = 0
      let release
      const all = new Promise((resolve) => { release = resolve })
      export const hooks = {
        async afterIncomingMessage() {
          if (++waiting === 50) release()
          await all
        },
      }`)
    const chatUser = await createChatUser(bot.chatUrl)
    const conversations = await Promise.all(Array.from({ length: 50 }, () => chatUser.createConversation()))
    await Promise.all(conversations.map((conversationId) => chatUser.send(conversationId, 'go')))
    const events = await endedEvents(platform, bot.id, 50)
    expect(new Set(events.map(({ status }) => status))).toEqual(new Set(['processed']))
  })

  test('whose wake-up was lost is found by the sweep', async () => {
    const swept = await openPlatform({ backEnd, environment: { WORKER_SWEEP_SECONDS: '1' } })
    try {
      const bot = await swept.createBot('export const hooks = { afterIncomingMessage() {} }')
      const chatUser = await createChatUser(bot.chatUrl)
      const conversationId = await chatUser.createConversation()
      const { queue } = swept.context
      const wake = queue.wake
      queue.wake = async () => {
        throw new Error('The queue is away')
      }
      const { status } = await chatUser.send(conversationId, 'lost')
      queue.wake = wake
      expect(status).toBe(201)
      expect(await endedEvents(swept, bot.id, 1)).toMatchObject([{ status: 'processed' }])
    } finally {
      await swept[Symbol.asyncDispose]()
    }
  })
})

describe('an event', () => {
  let platform: Platform
  beforeAll(async () => {
    platform = await openPlatform({ worker: false })
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  test('that a newer run has taken over cannot be ended by the older one', async () => {
    const { db } = platform.context
    const bot = await platform.createBot()
    const chatUser = await createChatUser(bot.chatUrl)
    await chatUser.send(await chatUser.createConversation(), 'hello')
    const { mailbox } = (await db('events').where({ bot_id: bot.id }).first())!
    const older = (await claimNextEvents(db, [mailbox]))[0]!
    const newer = (await claimNextEvents(db, [mailbox]))[0]!
    expect([older.attempt, newer.attempt]).toEqual([1, 2])
    const state: StateChange = {
      id: 'state_1',
      type: 'bot',
      ownerId: bot.id,
      name: 'state',
      set: { from: 'zombie' },
      removed: [],
    }
    const log = { level: 'info', message: 'said by whoever ended it', timestamp: new Date().toISOString() }
    const end = { id: older.id, states: [], logs: [log] }
    const zombie: EventCompletion = { ...end, attempt: 1, status: 'failed', failureReason: 'zombie', states: [state] }
    expect(await completeEvents(db, [zombie])).toEqual([false])
    expect(await db('states').where({ bot_id: bot.id })).toEqual([])
    expect(await db('logs').where({ bot_id: bot.id })).toEqual([])
    // A worker that has taken an event over from itself may end both runs at once.
    const both = [
      { ...zombie, states: [] },
      { ...end, attempt: 2, status: 'processed' as const },
    ]
    expect(await completeEvents(db, both)).toEqual([false, true])
    expect(await db('events').where({ bot_id: bot.id }).first()).toMatchObject({
      status: 'processed',
      failure_reason: null,
    })
    expect(await db('logs').where({ bot_id: bot.id })).toHaveLength(1)
  })

  test('that is stored after another one of its mailbox comes after it, also where its transaction began before', async () => {
    const { db } = platform.context
    const bot = await platform.createBot()
    const integrationId = await storeIntegration(platform)
    const { id: installationId } = await installIntegration(platform, bot.id, integrationId)
    const ofInstallation = { botId: bot.id, installationId, webhookUrl: 'https://example.com/' }
    const workflow = { botId: bot.id, type: 'workflow_update', payload: {}, mailbox: newId('workflow') }
    const [register, unregister, started, ended] = [newId('evt'), newId('evt'), newId('evt'), newId('evt')]
    // It waits for a row that the other transaction has locked.
    const waiting = await db.transaction()
    await waiting.raw('select now(), pg_sleep(0.02)')
    await insertRegistration(db, { ...ofInstallation, id: register, type: 'register' })
    await insertEvent(db, { ...workflow, id: started })
    await insertRegistration(waiting, { ...ofInstallation, id: unregister, type: 'unregister' })
    await insertEvent(waiting, { ...workflow, id: ended })
    await waiting.commit()
    const claimed = await claimNextEvents(db, [installationId, workflow.mailbox])
    expect(claimed.map((event) => event?.id)).toEqual([register, started])
  })

  test('that is to be run again is not claimed before it is due, give or take what clocks differ', async () => {
    const { db } = platform.context
    const bot = await platform.createBot()
    const chatUser = await createChatUser(bot.chatUrl)
    const mailbox = await chatUser.createConversation()
    await chatUser.send(mailbox, 'hello')
    const dueIn = (milliseconds: number) =>
      db('events')
        .where({ mailbox })
        .update({ available_at: db.raw(`clock_timestamp() + interval '${milliseconds} milliseconds'`) })
    expect(await claimNextEvents(db, [mailbox])).toMatchObject([{ mailbox, attempt: 1 }])
    await dueIn(10_000)
    expect(await claimNextEvents(db, [mailbox])).toEqual([undefined])
    await dueIn(20)
    expect(await claimNextEvents(db, [mailbox])).toMatchObject([{ mailbox, attempt: 2 }])
  })

  test.each([
    ['that was not run yet', null],
    ['that is to be run again', `clock_timestamp() + interval '59 minutes'`],
  ])('%s is claimed and found by the sweep after the clock of the database was set back', async (_what, startedAt) => {
    const { db } = platform.context
    const bot = await platform.createBot()
    const chatUser = await createChatUser(bot.chatUrl)
    const mailbox = await chatUser.createConversation()
    await chatUser.send(mailbox, 'hello')
    await db('events')
      .where({ mailbox })
      .update({
        available_at: db.raw(`clock_timestamp() + interval '1 hour'`),
        started_at: startedAt === null ? null : db.raw(startedAt),
      })
    const overdue = await overdueMailboxes(db, { waitedMilliseconds: 10_000, runMilliseconds: 60_000, limit: 1000 })
    expect(overdue).toContainEqual({ mailbox, bot_id: bot.id })
    expect(await claimNextEvents(db, [mailbox])).toMatchObject([{ mailbox }])
  })

  test('is claimed and ended with others of its bot at once, and what they did to a shared state adds up', async () => {
    const { db } = platform.context
    const bot = await platform.createBot()
    const chatUser = await createChatUser(bot.chatUrl)
    const mailboxes = await Promise.all(Array.from({ length: 5 }, () => chatUser.createConversation()))
    await Promise.all(mailboxes.map((mailbox) => chatUser.send(mailbox, mailbox)))
    const claimed = await claimNextEvents(db, ['conv_none', ...mailboxes])
    expect(claimed.map((event) => event?.mailbox)).toEqual([undefined, ...mailboxes])
    const ends = claimed.slice(1).map((event, index) => ({
      id: event!.id,
      attempt: 1,
      status: 'processed' as const,
      states: [
        {
          id: `state_${index}`,
          type: 'bot' as const,
          ownerId: bot.id,
          name: 'state',
          set: { [`key${index}`]: index },
          removed: index === 4 ? ['key0'] : [],
        },
        {
          id: `own_${index}`,
          type: 'conversation' as const,
          ownerId: event!.mailbox,
          name: 'state',
          set: { index },
          removed: [],
        },
      ],
      logs: [{ level: 'info', message: `zero\u0000 half\uD800 ${index}`, timestamp: new Date().toISOString() }],
    }))
    expect(await completeEvents(db, [...ends, { ...ends[0]!, id: 'evt_none' }])).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
    ])
    const states = await db('states').where({ bot_id: bot.id }).orderBy('id')
    expect(states.filter(({ type }) => type === 'bot').map(({ payload }) => payload)).toEqual([
      { key1: 1, key2: 2, key3: 3, key4: 4 },
    ])
    expect(
      states.filter(({ type }) => type === 'conversation').map(({ owner_id, payload }) => [owner_id, payload['index']]),
    ).toEqual(mailboxes.map((mailbox, index) => [mailbox, index]))
    expect(await db('logs').where({ bot_id: bot.id }).orderBy('id').pluck('message')).toHaveLength(5)
  })
})

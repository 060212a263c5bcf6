import { CronExpressionParser } from 'cron-parser'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { logOf } from '../support/install-code.ts'
import { installIntegration, storeIntegration } from '../support/install-integration.ts'
import { createChatUser } from '../support/chat-client.ts'
import { endedEvents, replies } from '../support/outcomes.ts'
import { openPlatform, type DeployedBot, type Platform } from '../support/platform.ts'
import { openConversation } from './conversation.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

const say = (id: string, message: unknown) => ({ id, type: 'say', message })
const log = (message: string) => ({ id: 'log', type: 'log', message })
const flowOf = (id: string, cards: object[], triggers: object[] = []) => ({
  id,
  start: 'first',
  triggers,
  nodes: [{ id: 'first', cards }],
})

const update = (id: string, fields: object) => platform.ask('PUT', `/v1/admin/bots/${id}`, fields)

/** A platform's answer to a runtime operation of the bot, or of an integration that is installed on it. */
const asBot = (bot: DeployedBot, path: string, body: object, integrationId?: string) =>
  platform.ask('POST', `/v1/chat${path}`, body, {
    'x-bot-id': bot.id,
    ...(integrationId && { 'x-integration-id': integrationId }),
  })

const eventsOf = (bot: DeployedBot) => platform.context.db('events').where({ bot_id: bot.id }).orderBy('created_at')

const schedules = (bot: DeployedBot) =>
  platform.context.db('recurring_events').where({ bot_id: bot.id }).orderBy('name')

/** Lets the time of all schedules of a bot come. */
const makeDue = (bot: DeployedBot) =>
  platform.context
    .db('recurring_events')
    .where({ bot_id: bot.id })
    .update({ next_at: new Date(0) })

describe('a flow that begins with a conversation', () => {
  const started = { id: 'new', event: 'conversation_started' }

  test('runs there before the first message, which answers it', async () => {
    const code = `export const hooks = {
      beforeIncomingEvent: ({ event, logger }) => { logger.info(event.type, event.trigger.flowId, event.payload.channel, event.integration) },
    }`
    const cards = [
      { id: 'ask', type: 'capture', message: 'Who are you?', variable: 'user.name' },
      say('hello', 'Hello {{user.name}}'),
    ]
    const bot = await platform.createBot(code, { flows: [flowOf('welcome', cards, [started])] })
    const { say: tell, heard, id } = await openConversation(platform, bot)
    await endedEvents(platform, bot.id, 1)
    expect(await heard()).toEqual(['Who are you?'])
    expect(await tell('Ada')).toEqual(['Hello Ada'])
    expect(await logOf(platform, bot.id)).toEqual(['info conversation_started welcome channel chat'])
    expect(await eventsOf(bot)).toMatchObject([
      { type: 'conversation_started', status: 'processed', mailbox: id, conversation_id: id },
      { type: 'message_created' },
    ])
  })

  test('begins once for each new conversation, however it is created', async () => {
    const code = `
      export const retry = { attempts: 2, backoff: 1 }
      let runs = 0
      export const actions = { open: () => ({}) }
      export const hooks = {
        async afterIncomingEvent({ event, client }) {
          if (event.type !== 'open') return
          await client.createConversation({ channel: 'own' })
          if (++runs === 1) throw new Error('once more')
        },
      }`
    const cards = [log('{{event.payload.channel}} {{user.name}} {{event.tags.conversation.place}}')]
    const trigger = { ...started, filter: { $: "event.payload.channel !== 'quiet'" } }
    const bot = await platform.createBot(code, { flows: [flowOf('welcome', cards, [trigger])] })
    const integrationId = await storeIntegration(platform)
    await installIntegration(platform, bot.id, integrationId)

    const user = await createChatUser(bot.chatUrl)
    for (const id of ['mine', 'mine']) await user.ask('POST', '/conversations/get-or-create', { id })
    for (const channel of ['found', 'found', 'quiet']) {
      await asBot(bot, '/conversations/get-or-create', { channel, tags: { place: 'here' } })
    }
    await asBot(bot, '/conversations', { channel: 'made' })
    const incoming = {
      user: { name: 'Grace', tags: { id: '1' } },
      conversation: { channel: 'inbox', tags: { id: '1' } },
    }
    for (const text of ['one', 'two']) {
      const message = { type: 'text', payload: { text } }
      const stored = await asBot(bot, '/initialize-incoming-message', { ...incoming, message }, integrationId)
      expect(stored.status).toBe(200)
    }
    await asBot(bot, '/events', { type: 'open', payload: {} })
    // Five conversations with the flow, a quiet one, one of the event that ran twice; two messages, and that event.
    await endedEvents(platform, bot.id, 9)
    expect((await logOf(platform, bot.id)).filter((line) => line.startsWith('info')).toSorted()).toEqual([
      'info channel  ',
      'info found  here',
      'info inbox  ',
      'info made  ',
      'info own  ',
    ])
    const events = await eventsOf(bot)
    expect(events.filter(({ type }) => type === 'conversation_started')).toHaveLength(6)
    const ofInbox = events.filter(({ user_id: userId, integration }) => integration === 'tool' && userId !== null)
    expect(ofInbox.map(({ type }) => type)).toEqual(['conversation_started', 'message_created', 'message_created'])
  })

  test('costs other bots no event, and belongs to the version in service', async () => {
    const flow = flowOf('main', [say('hi', 'hi')])
    const bot = await platform.createBot('', { flows: [flow] })
    const open = async () => (await openConversation(platform, bot)).id
    await open()
    expect(await eventsOf(bot)).toEqual([])
    await update(bot.id, { flows: [{ ...flow, triggers: [started] }] })
    await open()
    await endedEvents(platform, bot.id, 1)
    expect((await platform.ask('POST', `/v1/admin/bots/${bot.id}/rollback`, {})).status).toBe(200)
    await open()
    expect(await eventsOf(bot)).toHaveLength(1)
  })
})

describe('a flow that begins at set times', () => {
  const nightly = { id: 'nightly', cron: '0 3 * * *' }
  test('runs without a conversation, and continues in one by an event', async () => {
    const remind = flowOf('remind', [say('remind', 'Remember {{event.payload.what}}')], [{ id: 'r', event: 'remind' }])
    const bot = await platform.createBot('', { flows: [remind] })
    const { id } = await openConversation(platform, bot)
    const cards = [
      { id: 'seen', type: 'set', values: { 'bot.seen': { $: 'event.trigger' } } },
      log('{{event.type}} {{event.trigger.nodeId}}'),
      { id: 'emit', type: 'emit', event: 'remind', conversation: id, payload: { what: 'the milk' } },
    ]
    const triggers = [{ ...nightly, filter: { $: 'event.payload.trigger === "nightly"' } }]
    expect((await update(bot.id, { flows: [remind, flowOf('night', cards, triggers)] })).status).toBe(200)
    await makeDue(bot)
    const [scheduled, reminded] = await endedEvents(platform, bot.id, 2)
    expect(scheduled).toMatchObject({ type: 'flow_scheduled', status: 'processed', conversation_id: null })
    expect(reminded).toMatchObject({ type: 'remind', status: 'processed', conversation_id: id })
    expect(await replies(platform, id)).toEqual(['Remember the milk'])
    expect(await logOf(platform, bot.id)).toEqual(['info flow_scheduled first'])
    const [schedule] = await schedules(bot)
    expect(schedule!.next_at.getTime()).toBeGreaterThan(Date.now())
  })

  test('fails by name at cards that need a conversation', async () => {
    for (const card of [
      say('say', 'Hello?'),
      { id: 'ask', type: 'capture', variable: 'temp.answer' },
      { id: 'long', type: 'wait', seconds: 60 },
      { id: 'people', type: 'handover' },
    ]) {
      const bot = await platform.createBot('', { flows: [flowOf('night', [card], [nightly])] })
      await makeDue(bot)
      const [event] = await endedEvents(platform, bot.id, 1)
      expect(event!.failure_reason).toContain(
        `night/first/${card.id}: NoConversationError: The event has no conversation`,
      )
    }
  })

  test('has the schedule of the version in service, apart from the recurring events of the bot', async () => {
    const own = { report: { schedule: { cron: '0 9 * * *' }, type: 'report', payload: {} } }
    const flow = flowOf('night', [log('night')], [nightly])
    const bot = await platform.createBot('', { flows: [flow], recurringEvents: own })
    const [kept] = await schedules(bot)
    const described = async () => (await platform.ask('GET', `/v1/admin/bots/${bot.id}`)).body.bot.recurringEvents
    expect(Object.keys(await described())).toEqual(['report'])

    const hourly = { id: 'hourly', cron: '0 * * * *' }
    await update(bot.id, { flows: [{ ...flow, triggers: [nightly, hourly] }] })
    expect(await schedules(bot)).toMatchObject([{ cron: '0 * * * *' }, kept, { name: 'report' }])
    await platform.ask('POST', `/v1/admin/bots/${bot.id}/rollback`, {})
    expect(await schedules(bot)).toMatchObject([{ name: '$flow/night/nightly' }, { name: 'report' }])
    await update(bot.id, { flows: [{ ...flow, triggers: [{ ...nightly, cron: '0 4 * * *' }] }] })
    expect((await schedules(bot))[0]!.next_at.toISOString()).toMatch(/T04:00/)
    await update(bot.id, { flows: [flowOf('night', [])] })
    expect(await schedules(bot)).toMatchObject([{ name: 'report' }])
    const taken = await update(bot.id, { recurringEvents: { '$flow/x/y': own.report } })
    expect(taken).toMatchObject({ status: 400, body: { type: 'InvalidPayload' } })
  })

  test.each([
    ['a rollback', 'rollback'],
    ['the deployment of a version', 'versions/deploy'],
  ])('has its times sought before the bot is locked: by %s', async (_name, path) => {
    // The search takes up to 50 ms, and a bot has 20 of them.
    const bot = await platform.createBot('', { flows: [flowOf('night', [], [{ id: 'leap', cron: '0 0 29 2 *' }])] })
    const { versions } = (await platform.ask('GET', `/v1/admin/bots/${bot.id}/versions`)).body
    await update(bot.id, { flows: [flowOf('night', [])] })
    const statements = vi.spyOn(Client.prototype, 'query')
    const searches = vi.spyOn(CronExpressionParser, 'parse')
    try {
      const body = path === 'rollback' ? {} : { versionId: versions[0].id }
      expect((await platform.ask('POST', `/v1/admin/bots/${bot.id}/${path}`, body)).status).toBe(200)
      const locks = statements.mock.calls.flatMap(([statement], index) =>
        /"bots".*for no key update/.test(JSON.stringify(statement).replaceAll('\\', ''))
          ? [statements.mock.invocationCallOrder[index]!]
          : [],
      )
      expect(locks).toHaveLength(1)
      expect(searches.mock.invocationCallOrder).toHaveLength(1)
      expect(searches.mock.invocationCallOrder[0]).toBeLessThan(locks[0]!)
      expect(await schedules(bot)).toMatchObject([{ cron: '0 0 29 2 *' }])
    } finally {
      statements.mockRestore()
      searches.mockRestore()
    }
  })
})

test('afterConversationEnd runs when the flows of a conversation were ended, and not when one was left', async () => {
  const code = `export const hooks = {
    afterConversationEnd: ({ event, state, logger }) => { logger.info('ended by', event.type, JSON.stringify(state.session)) },
  }`
  const ask = { id: 'ask', type: 'capture', variable: 'session.answer' }
  const stop = { id: 'if', type: 'condition', if: { $: "session.answer === 'end'" }, ports: { true: 'over' } }
  const main = {
    id: 'main',
    start: 'first',
    nodes: [
      { id: 'first', cards: [ask, stop] },
      { id: 'over', cards: [{ id: 'end', type: 'end' }] },
    ],
  }
  const sure = { id: 'sure', type: 'capture', message: 'Sure?', variable: 'temp.sure' }
  const bot = await platform.createBot(code, { flows: [main, flowOf('end', [sure])] })
  const { say: tell, id } = await openConversation(platform, bot)
  for (const text of ['hi', 'leave', 'hi', 'end']) await tell(text)
  expect(await logOf(platform, bot.id)).toEqual([])
  await tell('yes')
  expect(await logOf(platform, bot.id)).toEqual(['info ended by message_created {}'])
  await tell('hi')
  await platform.ask('DELETE', `/v1/chat/conversations/${id}/flow`, undefined, { 'x-bot-id': bot.id })
  await endedEvents(platform, bot.id, 7)
  expect((await logOf(platform, bot.id)).at(-1)).toMatch(/^info ended by flow_ended/)
})

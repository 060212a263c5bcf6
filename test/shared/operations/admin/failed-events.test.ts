import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertJournalEntry } from '#shared/store/journal.ts'
import { replayEvents } from '#shared/store/failed-events.ts'
import { createChatUser } from '../../../support/chat-client.ts'
import { createMember } from '../../../support/members.ts'
import { endedEvents, replies } from '../../../support/outcomes.ts'
import { backEnds, openPlatform, type DeployedBot, type Platform } from '../../../support/platform.ts'

/** Says what it hears, and then fails on what is bad. */
const moody = `
  export const hooks = {
    async afterIncomingMessage({ event, client, logger }) {
      const payload = { text: 'heard ' + event.preview + ' ' + Math.random() }
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload })
      logger.info('heard it')
      if (event.preview.startsWith('bad')) throw new Error('Cannot stand ' + event.preview)
    },
  }
  export const actions = { fail() { throw new Error('on purpose') } }`

const healed = moody.replace(
  `throw new Error('Cannot stand ' + event.preview)`,
  `
  await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: 'mended' } })`,
)

describe.each(backEnds)('the failed events of a bot, on %s', (backEnd) => {
  let platform: Platform
  beforeAll(async () => {
    platform = await openPlatform({ backEnd })
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  const failing = async (...texts: string[]) => {
    const bot = await platform.createBot(moody)
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    for (const text of texts) await chatUser.send(conversationId, text)
    await endedEvents(platform, bot.id, texts.length)
    return { bot, chatter: chatUser, conversationId }
  }
  const ask = (bot: DeployedBot, method: string, path = '', body?: object, headers = {}) =>
    platform.ask(method, `/v1/admin/bots/${bot.id}/failed-events${path}`, body, headers)
  const deploy = (bot: DeployedBot, code: string) => platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { code })

  test('are listed, the last failed first, page by page, and narrowed', async () => {
    const { bot, conversationId } = await failing('bad one', 'good', 'bad two')
    const { status, body } = await ask(bot, 'GET')
    expect(status).toBe(200)
    expect(body.events).toMatchObject([
      { failureReason: expect.stringContaining('Cannot stand bad two'), conversationId, isReplayable: true },
      { failureReason: expect.stringContaining('Cannot stand bad one'), type: 'message_created', attempts: 1 },
    ])
    const first = await ask(bot, 'GET', '?pageSize=1')
    const second = await ask(bot, 'GET', `?pageSize=1&nextToken=${first.body.meta.nextToken}`)
    expect([...first.body.events, ...second.body.events]).toEqual(body.events)
    expect(second.body.meta).toEqual({})
    const found = async (query: string) => (await ask(bot, 'GET', `?${query}`)).body.events.length
    expect(await found('reason=BAD%20ONE')).toBe(1)
    expect(await found('type=other')).toBe(0)
    expect(await found(`conversationId=${conversationId}`)).toBe(2)
    expect(await found(`afterDate=${body.events[1].failedAt}`)).toBe(1)
    expect(await found(`beforeDate=${body.events[0].failedAt}`)).toBe(1)
  })

  test('are shown one by one with payload and log, and not to viewers', async () => {
    const { bot, chatter: chatUser } = await failing('bad')
    const [{ id, ...summary }] = (await ask(bot, 'GET')).body.events
    const { body } = await ask(bot, 'GET', `/${id}`)
    expect(body.event).toMatchObject({ id, ...summary, userId: chatUser.userId })
    expect(body.event.payload).toBeTypeOf('object')
    expect(body.event.logs.map((line: { message: string }) => line.message)).toEqual([
      'heard it',
      expect.stringContaining('Cannot stand bad'),
    ])
    const viewer = await createMember(platform, 'viewer', platform.workspaceId)
    expect((await ask(bot, 'GET', '', undefined, viewer)).status).toBe(200)
    for (const [method, path] of [
      ['GET', `/${id}`],
      ['POST', `/${id}/replay`],
      ['POST', '/replay'],
    ] as const) {
      expect(await ask(bot, method, path, method === 'POST' ? {} : undefined, viewer)).toMatchObject({ status: 403 })
    }
  })

  test('are those of the workspace’s own bots: another one finds, shows and replays none', async () => {
    const { bot } = await failing('bad')
    const [{ id }] = (await ask(bot, 'GET')).body.events
    const stranger = await createMember(platform, 'owner')
    for (const [method, path] of [
      ['GET', ''],
      ['GET', `/${id}`],
      ['POST', `/${id}/replay`],
      ['POST', '/replay'],
    ] as const) {
      expect(await ask(bot, method, path, method === 'POST' ? {} : undefined, stranger)).toMatchObject({ status: 404 })
    }
    const other = await platform.createBot(moody)
    expect(await ask(other, 'POST', `/${id}/replay`, {})).toMatchObject({ status: 404 })
    expect((await ask(other, 'POST', '/replay', {})).body).toEqual({ replayed: 0 })
    expect((await ask(bot, 'GET')).body.events).toHaveLength(1)
  })

  test('are replayed singly, by the version in service now, before what waits, saying nothing twice', async () => {
    const { bot, conversationId } = await failing('bad')
    const [first] = await replies(platform, conversationId)
    const [{ id }] = (await ask(bot, 'GET')).body.events
    await deploy(bot, healed)
    const answers = await Promise.all([1, 2, 3, 4].map(() => ask(bot, 'POST', `/${id}/replay`, {})))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    await expect.poll(() => replies(platform, conversationId), { timeout: 10_000 }).toEqual([first, 'mended'])
    const [event] = await endedEvents(platform, bot.id, 1)
    expect(event).toMatchObject({ status: 'processed', failures: 0, failure_reason: null })
    expect((await ask(bot, 'GET')).body.events).toEqual([])
    expect(await ask(bot, 'GET', `/${id}`)).toMatchObject({ status: 404 })
  })

  test('are replayed in bulk, as the filter and the limit say', async () => {
    const { bot, conversationId } = await failing('bad a', 'bad b', 'bad c', 'bad other')
    await deploy(bot, healed)
    expect((await ask(bot, 'POST', '/replay', { reason: 'other' })).body).toEqual({ replayed: 1 })
    expect((await ask(bot, 'POST', '/replay', { limit: 2 })).body).toEqual({ replayed: 2 })
    await expect.poll(async () => (await ask(bot, 'GET')).body.events.length).toBe(1)
    expect((await ask(bot, 'GET')).body.events).toMatchObject([{ failureReason: expect.stringContaining('bad c') }])
    expect((await ask(bot, 'POST', '/replay', {})).body).toEqual({ replayed: 1 })
    await expect.poll(() => replies(platform, conversationId), { timeout: 10_000 }).toHaveLength(8)
    expect(await ask(bot, 'POST', '/replay', { resaon: 'b' })).toMatchObject({ status: 400 })
  })

  test('that fail again are there again, with all their tries', async () => {
    const { bot } = await failing('bad')
    const [{ id }] = (await ask(bot, 'GET')).body.events
    expect((await ask(bot, 'POST', `/${id}/replay`, {})).status).toBe(200)
    await expect
      .poll(async () => (await ask(bot, 'GET')).body.events, { timeout: 10_000 })
      .toMatchObject([{ id, attempts: 3 }])
  })

  test('are closed to a run from before the failure', async () => {
    const { bot } = await failing('bad')
    const { db } = platform.context
    const [{ id, attempt } = { id: '', attempt: 0 }] = await endedEvents(platform, bot.id, 1)
    // Without a wake-up, so that no run begins in between.
    await replayEvents(db, bot.id, { id }, { oldest: new Date(0), limit: 1 })
    const late = { eventId: id, attempt, operation: 'createMessage', ordinal: 9, inputHash: '', result: {} }
    expect(await insertJournalEntry(db, late)).toBe(false)
    expect(await insertJournalEntry(db, { ...late, attempt: attempt + 1 })).toBe(true)
  })

  test('whose caller waited are not replayed, nor those whose journal is gone', async () => {
    const { bot } = await failing('bad')
    await platform.ask('POST', '/v1/chat/actions', { type: 'fail', input: {} }, { 'x-bot-id': bot.id })
    const [action, message] = (await ask(bot, 'GET')).body.events
    expect(action).toMatchObject({ type: 'action_triggered', isReplayable: false })
    expect(await ask(bot, 'POST', `/${action.id}/replay`, {})).toMatchObject({ status: 400 })
    const { db } = platform.context
    await db('events')
      .where({ id: message.id })
      .update({ ended_at: db.raw(`now() - interval '31 days'`) })
    expect(await ask(bot, 'POST', `/${message.id}/replay`, {})).toMatchObject({
      status: 410,
      body: { message: expect.stringContaining('RETENTION_FAILED_DAYS') },
    })
    expect((await ask(bot, 'POST', '/replay', {})).body).toEqual({ replayed: 0 })
    expect(await ask(bot, 'POST', '/evt_none/replay', {})).toMatchObject({ status: 404 })
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlatform, type Platform } from '../../../support/platform.ts'
import { clientNames, installIntegration, openClients, type BotWithClients, type Call } from './clients.ts'

let platform: Platform
let own: BotWithClients
let foreign: BotWithClients
beforeAll(async () => {
  platform = await openPlatform()
  own = await openClients(platform)
  foreign = await openClients(platform)
})
afterAll(() => platform[Symbol.asyncDispose]())

const inAnHour = { delay: 3_600_000 }

describe.each(clientNames)('through %s', (clientName) => {
  const call: Call = (...given) => own.clients[clientName](...given)

  test('getEvent returns how an event ended', async () => {
    const { event } = await call('createEvent', { type: 'noon', payload: { at: 12 } })
    expect(event).toMatchObject({ type: 'noon', payload: { at: 12 }, status: 'pending', failureReason: null })
    await expect.poll(async () => (await call('getEvent', { id: event.id })).event.status).toBe('ignored')
    await expect(call('getEvent', { id: 'evt_none' })).rejects.toMatchObject({ code: 404, type: 'ResourceNotFound' })
  })

  test('listEvents pages through the events of a kind, newest first', async () => {
    const { conversationId, userId } = own
    const type = `kind-${clientName.length}`
    const created: string[] = []
    for (let n = 0; n < 3; n++) {
      const { event } = await call('createEvent', { type, payload: { n }, conversationId, userId, schedule: inAnHour })
      created.unshift(event.id)
    }
    await call('createEvent', { type, payload: {} })
    const filter = { type, conversationId, userId, status: 'scheduled', pageSize: 2 }
    const first = await call('listEvents', filter)
    const second = await call('listEvents', { ...filter, nextToken: first.meta.nextToken })
    const listed: { id: string }[] = [...first.events, ...second.events]
    expect(listed.map(({ id }) => id)).toEqual(created)
    expect(first.events).toHaveLength(2)
    expect(second.meta).toEqual({})
  })

  test('a scheduled event can be cancelled until it is due, once', async () => {
    const { event } = await call('createEvent', { type: 'later', payload: {}, schedule: inAnHour })
    expect(event).toMatchObject({ status: 'scheduled' })
    await call('cancelScheduledEvent', { id: event.id })
    expect((await call('getEvent', { id: event.id })).event).toMatchObject({ status: 'canceled' })
    await expect(call('cancelScheduledEvent', { id: event.id })).rejects.toMatchObject({
      code: 404,
      message: expect.stringContaining('canceled'),
    })
    const theirs = await foreign.clients[clientName]('createEvent', { type: 'x', payload: {}, schedule: inAnHour })
    await expect(call('cancelScheduledEvent', { id: theirs.event.id })).rejects.toMatchObject({ code: 404 })
  })

  test.each([
    ['neither a time nor a delay', {}],
    ['both', { delay: 1, dateTime: '2030-01-01T00:00:00Z' }],
    ['a time that is none', { dateTime: 'soon' }],
    ['a negative delay', { delay: -1 }],
    ['a delay of years', { delay: 1e12 }],
  ])('a schedule with %s is refused', async (_what, schedule) => {
    const refused = call('createEvent', { type: 'later', payload: {}, schedule })
    await expect(refused).rejects.toMatchObject({ code: 400, type: 'InvalidPayload' })
  })

  test.each(['message_created', 'state_expired', 'workflow_update', 'webhook_received', 'register', 'chat:custom'])(
    'createEvent of the platform’s own type %s is refused',
    async (type) => {
      const refused = call('createEvent', { type, payload: {} })
      await expect(refused).rejects.toMatchObject({ code: 400, type: 'InvalidPayload' })
    },
  )

  test('an event refers to nothing of another bot, now or later', async () => {
    const theirs = foreign.clients[clientName]
    const { conversationId, userId } = foreign
    const said = await theirs('createMessage', {
      conversationId,
      userId: foreign.botId,
      type: 'text',
      payload: { text: 'a secret' },
      tags: {},
    })
    const { workflow } = await theirs('createWorkflow', { name: 'theirs', status: 'listening' })
    const references = [{ conversationId }, { userId }, { messageId: said.message.id }, { workflowId: workflow.id }]
    for (const reference of references) {
      for (const schedule of [undefined, inAnHour]) {
        const refused = call('createEvent', { type: 'x', payload: {}, ...reference, ...(schedule && { schedule }) })
        await expect(refused).rejects.toMatchObject({ code: 400, type: 'ReferenceNotFound' })
      }
    }
  })
})

describe('an installed integration', () => {
  test('creates events that reach the bot as its alias and their type, and sees its own alone', async () => {
    const { botId, conversationId } = own
    const mail = await installIntegration(platform, botId, 'mail')
    const bot = own.clients['the published client']
    const created = await mail.ask('POST', '/v1/chat/events', { type: 'register', payload: { n: 1 } })
    expect(created).toMatchObject({ status: 201, body: { event: { type: 'register' } } })
    const { id } = (created.body as { event: { id: string } }).event
    expect((await bot('getEvent', { id })).event).toMatchObject({ type: 'mail:register', payload: { n: 1 } })
    expect((await bot('listEvents', { type: 'mail:register' })).events).toHaveLength(1)
    expect(await mail.ask('GET', `/v1/chat/events/${id}`)).toMatchObject({ body: { event: { type: 'register' } } })

    const { event } = await bot('createEvent', { type: 'mine', payload: {}, schedule: inAnHour })
    expect(await mail.ask('GET', `/v1/chat/events/${event.id}`)).toMatchObject({ status: 404 })
    expect(await mail.ask('DELETE', `/v1/chat/events/scheduled/${event.id}`)).toMatchObject({ status: 404 })
    const listed = (await mail.ask('GET', '/v1/chat/events')).body as { events: { id: string }[] }
    expect(listed.events.map((one) => one.id)).toEqual([id])

    const inChat = { type: 'x', payload: {}, conversationId }
    expect(await mail.ask('POST', '/v1/chat/events', inChat)).toMatchObject({ body: { type: 'ReferenceNotFound' } })
  })

  test('is asked things of which the bot sees nothing', async () => {
    const { botId } = own
    const { db } = platform.context
    const { installationId } = await installIntegration(platform, botId, 'secretive')
    const [row] = await db('events')
      .insert({
        id: `evt_${installationId}`,
        bot_id: botId,
        mailbox: installationId,
        installation_id: installationId,
        type: 'webhook_received',
        payload: { headers: { authorization: 'secret' } },
        status: 'processed',
      })
      .returning('*')
    const bot = own.clients['the published client']
    await expect(bot('getEvent', { id: row!.id })).rejects.toMatchObject({ code: 404 })
    expect((await bot('listEvents', { type: 'webhook_received' })).events).toEqual([])
  })
})

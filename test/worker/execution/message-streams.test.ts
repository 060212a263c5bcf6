import { Client, type Signals } from '@botpress/chat'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { createChatUser, type ChatUser } from '../../support/chat-client.ts'
import { listen as openStream, type EventStream, type Frame } from '../../support/event-stream.ts'
import { endedEvents, replies } from '../../support/outcomes.ts'
import { backEnds, openPlatform, type DeployedBot, type Platform } from '../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

const opened: EventStream[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((stream) => stream.close()))
})

/** A bot whose `afterIncomingMessage` is this, and somebody in a conversation with it who knows it as `talk`. */
async function meet(body: string, { on = platform, exports = '' } = {}) {
  const bot = await on.createBot(`
    ${exports}
    export const hooks = { async afterIncomingMessage({ event, client, logger }) { const { conversationId } = event; ${body} } }`)
  const alice = await createChatUser(bot.chatUrl, { id: 'alice' })
  await alice.createConversation('talk')
  const { id } = (await on.context.db('conversations').where({ bot_id: bot.id }).first())!
  return { on, bot, alice, conversationId: id }
}

interface Meeting {
  on: Platform
  bot: DeployedBot
  alice: ChatUser
  conversationId: string
}

/**
 * Listens to the conversation. Parts of a message are for those who follow what happens, so it waits until the
 * listener does: until it has heard the bot's welcome. The frames that it receives from then on are `frames`.
 */
async function listen({ on, bot, alice, conversationId }: Meeting) {
  const stream = await openStream(bot.chatUrl, alice.key, 'talk')
  opened.push(stream)
  const welcome = { conversationId, type: 'text', payload: { text: 'welcome' } }
  await on.ask('POST', '/v1/chat/messages', welcome, { 'x-bot-id': bot.id })
  await expect.poll(stream.frames).toHaveLength(1)
  return { frames: () => stream.frames().slice(1), ids: () => stream.ids().slice(1) }
}

/** Has the bot handle a message. */
async function hear(body: string, options: Parameters<typeof meet>[1] = {}) {
  const meeting = await meet(body, options)
  const stream = await listen(meeting)
  await meeting.alice.send('talk', 'go')
  const [event] = await endedEvents(meeting.on, meeting.bot.id, 1)
  return {
    ...meeting,
    event: event!,
    lastOwnId: () => stream.ids()[0],
    /** The texts after the user's own, once there are this many. */
    async heard(count: number): Promise<Frame[]> {
      await expect.poll(stream.frames).toHaveLength(count + 1)
      return stream.frames().slice(1)
    },
  }
}

const createdAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

describe.each(backEnds)('a streamed message on %s', (backEnd) => {
  test('is received word by word, then as complete, then as any message', async () => {
    await using on = await openPlatform({ backEnd })
    const { bot, event, heard } = await hear(
      `const stream = client.streamMessage(conversationId)
      for (const word of ['one ', 'two ', 'three']) await stream.write(word)
      await stream.end()`,
      { on },
    )
    const frames = await heard(5)
    const streamId = `${event.id}/1`
    const common = { streamId, conversationId: 'talk', userId: bot.id, createdAt }
    const message = {
      id: expect.stringMatching(/^msg_/),
      createdAt,
      payload: { type: 'text', text: 'one two three' },
      userId: bot.id,
      conversationId: 'talk',
      metadata: { streamId },
    }
    expect(frames).toEqual([
      { type: 'message_stream_delta', data: { ...common, sequence: 0, delta: 'one ' } },
      { type: 'message_stream_delta', data: { ...common, sequence: 1, delta: 'two ' } },
      { type: 'message_stream_delta', data: { ...common, sequence: 2, delta: 'three' } },
      { type: 'message_stream_complete', data: { streamId, message } },
      { type: 'message_created', data: { ...message, isBot: true } },
    ])
    expect(new Set(frames.slice(0, 3).map(({ data }) => data.createdAt)).size).toBe(1)
    expect(frames[3]!.data.message.id).toBe(frames[4]!.data.id)
  })

  test('may have parts of any length', async () => {
    await using on = await openPlatform({ backEnd })
    const { heard } = await hear(
      `const stream = client.streamMessage(conversationId); await stream.write('ä'.repeat(20_000)); await stream.abort()`,
      { on },
    )
    const [delta] = await heard(2)
    expect(delta!.data.delta).toBe('ä'.repeat(20_000))
  })
})

describe('a stream that becomes no message', () => {
  test.each([
    ['is aborted', `await stream.abort()`, 'processed'],
    ['is left open', ``, 'processed'],
    ['belongs to a hook that throws', `throw new Error('on purpose')`, 'failed'],
    ['belongs to a hook that makes too many calls', `for (;;) await client.getUser({ id: event.userId })`, 'failed'],
    ['belongs to a hook that uses up its processor time', `for (;;);`, 'failed'],
    ['is ended with what is no message', `await stream.end({ type: 'text', payload: {} })`, 'failed'],
  ])('is heard to be over when it %s', async (_when, body, status) => {
    const { event, heard } = await hear(
      `const stream = client.streamMessage(conversationId); await stream.write('half a'); ${body}`,
    )
    expect(event.status).toBe(status)
    const streamId = `${event.id}/1`
    expect(await heard(2)).toMatchObject([
      { type: 'message_stream_delta', data: { streamId, sequence: 0, delta: 'half a' } },
      { type: 'message_stream_abort', data: { streamId, conversationId: 'talk' } },
    ])
  })

  test('is received as aborted when an action of the event left it open', async () => {
    const { event, heard } = await hear(`await client.callAction({ type: 'begin', input: { conversationId } })`, {
      exports: `export const actions = {
        async begin({ client, input }) { await client.streamMessage(input.conversationId).write('half a') },
      }`,
    })
    const streamId = `${event.id}/callAction:1/1`
    expect(await heard(2)).toMatchObject([
      { type: 'message_stream_delta', data: { streamId } },
      { type: 'message_stream_abort', data: { streamId } },
    ])
  })
})

describe('a run that is repeated', () => {
  test('streams under the same id', async () => {
    const { event, heard } = await hear(
      `const stream = client.streamMessage(conversationId)
      await stream.write('try ' + ++tries)
      if (tries === 1) throw new Error('not yet')
      await stream.end()`,
      { exports: `export const retry = { attempts: 2, backoff: 0 }; let tries = 0` },
    )
    const frames = await heard(5)
    expect(frames.map(({ type, data }) => [type, data.delta ?? data.payload?.text])).toEqual([
      ['message_stream_delta', 'try 1'],
      ['message_stream_abort', undefined],
      ['message_stream_delta', 'try 2'],
      ['message_stream_complete', undefined],
      ['message_created', 'try 2'],
    ])
    expect(new Set(frames.slice(0, 4).map(({ data }) => data.streamId))).toEqual(new Set([`${event.id}/1`]))
  })

  test('completes a stream again whose message it finds said, and says it once', async () => {
    const { heard } = await hear(
      `const stream = client.streamMessage(conversationId)
      await stream.write('try ' + ++tries)
      await stream.end()
      if (tries === 1) throw new Error('not yet')`,
      { exports: `export const retry = { attempts: 2, backoff: 0 }; let tries = 0` },
    )
    const frames = await heard(5)
    expect(frames.map(({ type }) => type)).toEqual([
      'message_stream_delta',
      'message_stream_complete',
      'message_created',
      'message_stream_delta',
      'message_stream_complete',
    ])
    expect(frames[4]!.data).toEqual(frames[1]!.data)
  })

  test('finds its actions done, in however many parts it streams before', async () => {
    const { conversationId } = await hear(
      `tries += 1
      const stream = client.streamMessage(conversationId)
      for (let part = tries; part < 3; part += 1) await stream.write('part')
      await client.callAction({ type: 'pay', input: {} })
      if (tries === 1) throw new Error('not yet')
      await stream.end({ type: 'text', payload: { text: 'paid ' + paid } })`,
      {
        exports: `
          export const retry = { attempts: 2, backoff: 0 }
          let tries = 0
          let paid = 0
          export const actions = { pay() { paid += 1 } }`,
      },
    )
    expect(await replies(platform, conversationId)).toEqual(['welcome', 'paid 1'])
  })
})

/** Calls an action of the chat integration as a bot, over HTTP. */
const act = (bot: DeployedBot, type: string, input: object) =>
  platform.ask('POST', '/v1/chat/actions', { type: `chat:${type}`, input }, { 'x-bot-id': bot.id })

describe('chat:sendEvent', () => {
  const send = `
    const input = { conversationId, userId: event.userId, payload: { mood: { is: 'fine' } } }
    logger.info('%j', await client.callAction({ type: 'chat:sendEvent', input }))`

  test('is received as an event of the bot that has no id, now and after a reconnection', async () => {
    const { bot, alice, event, lastOwnId, heard } = await hear(send)
    const [frame] = await heard(1)
    expect(frame).toEqual({
      type: 'event_created',
      data: {
        id: null,
        createdAt,
        payload: { mood: { is: 'fine' } },
        conversationId: 'talk',
        userId: bot.id,
        isBot: true,
      },
    })
    const { db } = platform.context
    const lines = await db('logs').where({ event_id: event.id }).pluck('message')
    expect(lines).toEqual([JSON.stringify({ output: {}, meta: { cached: false } })])

    const again = await openStream(bot.chatUrl, alice.key, 'talk', { lastEventId: lastOwnId() })
    opened.push(again)
    await expect.poll(again.frames).toEqual([frame])
  })

  test('makes no event that can be got', async () => {
    const { bot, alice, event, heard } = await hear(send)
    await heard(1)
    expect(await platform.context.db('events').where({ bot_id: bot.id }).pluck('id')).toEqual([event.id])
    expect((await alice.ask('GET', '/events/null')).status).toBe(404)
  })
})

describe('the chat integration’s actions', () => {
  const delta = { type: 'delta', streamId: 's', createdAt: '2026-01-02T03:04:05+01:00', sequence: 0, delta: 'a' }

  test('tolerate further fields of their input, and return times in UTC', async () => {
    const meeting = await meet('')
    const { bot, conversationId } = meeting
    const stream = await listen(meeting)
    const more = { conversationId, more: 'than needed', userId: 'x' }
    expect((await act(bot, 'sendEvent', { ...more, payload: { a: 1 } })).body).toMatchObject({ output: {} })
    const clientMessageId = 'mine'
    const signal = { ...delta, clientMessageId, more: 'than needed' }
    expect((await act(bot, 'publishMessageStream', { ...more, signal })).body).toMatchObject({ output: {} })
    await expect.poll(stream.frames).toHaveLength(2)
    const [sent, part] = stream.frames()
    expect(Object.keys(sent!.data).toSorted()).toEqual([
      'conversationId',
      'createdAt',
      'id',
      'isBot',
      'payload',
      'userId',
    ])
    expect(part!.data).toEqual({
      streamId: 's',
      conversationId: 'talk',
      userId: bot.id,
      createdAt: '2026-01-02T02:04:05.000Z',
      clientMessageId,
      sequence: 0,
      delta: 'a',
    })
  })

  test.each([
    ['sendEvent', {}, 'conversationId'],
    ['sendEvent', { conversationId: 'c', payload: 'text' }, 'payload'],
    ['publishMessageStream', { conversationId: 'c' }, 'signal'],
    ['publishMessageStream', { conversationId: 'c', signal: { type: 'other' } }, 'type'],
    ['publishMessageStream', { conversationId: 'c', signal: { ...delta, sequence: '0' } }, 'sequence'],
    ['publishMessageStream', { conversationId: 'c', signal: { ...delta, createdAt: 'now' } }, 'createdAt'],
    ['publishMessageStream', { conversationId: 'c', signal: { type: 'abort' } }, 'streamId'],
  ])('say what is wrong with the input: %s %j', async (type, input, what) => {
    const { status, body } = await act(await platform.createBot(), type, input)
    expect({ status, type: body.type }).toEqual({ status: 400, type: 'InvalidPayload' })
    expect(body.message).toContain(`chat:${type}`)
    expect(body.message).toContain(what)
  })

  test.each([
    ['sendEvent', { payload: {} }],
    ['publishMessageStream', { signal: delta }],
    ['publishMessageStream', { signal: { type: 'abort', streamId: 's' } }],
  ])('do not reach another bot’s conversation: %s %j', async (type, input) => {
    const meeting = await meet('')
    const stream = await listen(meeting)
    const stranger = await platform.createBot()
    for (const conversationId of [meeting.conversationId, newId('conv')]) {
      const { status, body } = await act(stranger, type, { conversationId, ...input })
      expect({ status, type: body.type }).toEqual({ status: 400, type: 'ReferenceNotFound' })
    }
    await meeting.alice.send('talk', 'still here')
    await expect.poll(stream.frames).toMatchObject([{ type: 'message_created' }])
  })
})

test('the published client takes events of the bot’s as such, and streams without harm', async () => {
  const { bot } = await meet(`
    const stream = client.streamMessage(conversationId)
    await stream.write('one')
    await stream.end()
    await client.callAction({ type: 'chat:sendEvent', input: { conversationId, payload: { done: true } } })`)
  const client = await Client.connect({ apiUrl: bot.chatUrl, userId: 'bob' })
  await client.createConversation({ id: 'bobs' })
  const listener = await client.listenConversation({ id: 'bobs' })
  onTestFinished(() => listener.disconnect())
  const unknown: unknown[] = []
  const events: Signals['event_created'][] = []
  const said: Signals['message_created'][] = []
  listener.on('unknown', (signal) => unknown.push(signal))
  listener.on('event_created', (event) => events.push(event))
  listener.on('message_created', (message) => said.push(message))
  await client.createEvent({ conversationId: 'bobs', payload: {} })
  await expect.poll(() => events).toHaveLength(1)
  await client.createMessage({ conversationId: 'bobs', payload: { type: 'text', text: 'go' } })

  await expect.poll(() => events).toHaveLength(2)
  expect(events[1]).toMatchObject({ id: null, isBot: true, userId: bot.id, payload: { done: true } })
  expect(said.map(({ isBot, payload }) => [isBot, payload])).toEqual([
    [false, { type: 'text', text: 'go' }],
    [true, { type: 'text', text: 'one' }],
  ])
  expect(unknown.map((signal) => JSON.stringify(signal))).toEqual([
    expect.stringContaining('message_stream_delta'),
    expect.stringContaining('message_stream_complete'),
  ])
})

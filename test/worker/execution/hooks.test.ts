import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChatUser } from '../../support/chat-client.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { endedEvents, replies } from '../../support/outcomes.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

/** Deploys a bot, says something to it in a new conversation, and waits for the event's end. */
async function tell(code: string, text = 'hello', user: object = {}) {
  const bot = await platform.createBot(code)
  const chatUser = await createChatUser(bot.chatUrl, user)
  const conversationId = await chatUser.createConversation()
  const { body } = await chatUser.send(conversationId, text)
  const [event] = await endedEvents(platform, bot.id, 1)
  return {
    bot,
    chatter: chatUser,
    conversationId,
    message: body.message,
    event: event!,
    replies: await replies(platform, conversationId),
  }
}

describe('the event object', () => {
  const reveal = `
    export const hooks = {
      async afterIncomingMessage({ event, client }) {
        const { createdOn } = event
        await client.createMessage({
          conversationId: event.conversationId,
          type: 'text',
          payload: { text: JSON.stringify({ ...event, isDate: createdOn instanceof Date }) },
        })
      },
    }`

  test('has exactly the properties of the specification that apply to a chat message', async () => {
    const { bot, chatter: chatUser, conversationId, message, event, replies } = await tell(reveal, 'hello there')
    expect(JSON.parse(replies[0]!)).toEqual({
      id: event.id,
      botId: bot.id,
      conversationId,
      createdOn: message.createdAt,
      isDate: true,
      direction: 'incoming',
      integration: 'chat',
      messageId: message.id,
      payload: { type: 'text', text: 'hello there' },
      preview: 'hello there',
      state: { user: {}, conversation: {}, session: {}, bot: {}, temp: {} },
      tags: { conversation: { owner: chatUser.userId }, message: {}, user: {} },
      type: 'message_created',
      userId: chatUser.userId,
    })
  })

  test('has the internal ids, and the client’s own as tags', async () => {
    const { event, replies } = await tell(reveal, 'hi', { id: 'frank' })
    const shown = JSON.parse(replies[0]!)
    expect(shown.userId).toBe(event.user_id)
    expect(shown.userId).toMatch(/^user_/)
    expect(shown.tags.user).toEqual({ fid: 'frank' })
  })

  test('has a preview of every kind of payload', async () => {
    const bot = await platform.createBot(reveal)
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    for (const payload of [
      { type: 'markdown', markdown: '*m*' },
      { type: 'image', imageUrl: 'https://i' },
      { type: 'location', latitude: 1, longitude: 2 },
      {
        type: 'carousel',
        items: [
          { type: 'card', title: 'one', actions: [] },
          { type: 'card', title: 'two', actions: [] },
        ],
      },
      {
        type: 'bloc',
        items: [
          { type: 'text', text: 'a' },
          { type: 'audio', audioUrl: 'b' },
        ],
      },
    ]) {
      await chatUser.ask('POST', '/messages', { conversationId, payload })
    }
    await endedEvents(platform, bot.id, 5)
    const shown = (await replies(platform, conversationId)).map((reply) => JSON.parse(reply).preview)
    expect(shown).toEqual(['*m*', 'image: https://i', 'location: 1, 2', 'one\ntwo', 'a\naudio: b'])
  })
})

describe('hooks', () => {
  test('run in order, pass on what they return, and share temp', async () => {
    const { replies, event } = await tell(`
      const note = (name) => ({ event, state }) => { state.temp.seen = [...(state.temp.seen ?? []), name + ':' + event.preview] }
      export const hooks = {
        afterTurnEnd: [note('end'), async ({ event, client, state }) => {
          await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: state.temp.seen.join(' ') } })
        }],
        beforeIncomingMessage: [note('before'), ({ event }) => ({ data: { ...event, preview: 'changed' } })],
        afterIncomingMessage: note('after'),
      }`)
    expect(replies).toEqual(['before:hello after:changed end:changed'])
    expect(event.status).toBe('processed')
  })

  test('that stop keep the later ones from running, and the turn still ends', async () => {
    const { replies, event } = await tell(`
      const say = (text) => ({ event, client }) => client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
      export const hooks = {
        beforeIncomingMessage: () => ({ stop: true }),
        afterIncomingMessage: say('not to be heard'),
        afterTurnEnd: say('the end'),
      }`)
    expect(replies).toEqual(['the end'])
    expect(event.status).toBe('processed')
  })

  test('around outgoing messages may change and suppress them', async () => {
    const { replies } = await tell(`
      export const hooks = {
        beforeOutgoingMessage: ({ message }) =>
          message.payload.text === 'no' ? { stop: true } : { data: { ...message, payload: { text: message.payload.text + '!' } } },
        afterIncomingMessage: async ({ event, client }) => {
          for (const text of ['yes', 'no']) await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
        },
      }`)
    expect(replies).toEqual(['yes!'])
  })

  test('around actions may change what goes in and comes out', async () => {
    const { replies } = await tell(`
      export const actions = { add: ({ input }) => ({ sum: input.a + input.b }) }
      export const hooks = {
        beforeCallAction: ({ action }) => ({ data: { ...action, input: { ...action.input, b: 40 } } }),
        afterCallAction: ({ action }) => ({ data: { ...action, output: { sum: action.output.sum, checked: true } } }),
        afterIncomingMessage: async ({ event, client }) => {
          const { output } = await client.callAction({ type: 'add', input: { a: 2, b: 2 } })
          await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: JSON.stringify(output) } })
        },
      }`)
    expect(JSON.parse(replies[0]!)).toEqual({ sum: 42, checked: true })
  })

  test('that a bot does not have leave its event ignored', async () => {
    const { event } = await tell('export const actions = { greet() {} }')
    expect(event).toMatchObject({ status: 'ignored', failure_reason: null })
  })
})

describe('a bot without code', () => {
  test('keeps unknown entries, and ignores them', async () => {
    const bot = await platform.createBot()
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    await chatUser.send(conversationId, 'anyone?')
    expect(await endedEvents(platform, bot.id, 1)).toMatchObject([{ status: 'ignored' }])
    expect(await chatUser.messages(conversationId)).toHaveLength(1)
  })
})

describe('a hook that throws', () => {
  test('fails its event with the author’s own line, and the conversation goes on', async () => {
    const bot = await platform.createBot(`
      interface Event { preview: string }
      export const hooks = {
        async afterIncomingMessage({ event, client }: { event: Event, client: any }) {
          if (event.preview === 'bad') throw new TypeError('cannot stand this')
          await client.createMessage({ conversationId: (event as any).conversationId, type: 'text', payload: { text: event.preview } })
        },
      }`)
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    for (const text of ['one', 'bad', 'two']) await chatUser.send(conversationId, text)
    const events = await endedEvents(platform, bot.id, 3)
    expect(events.map(({ status }) => status)).toEqual(['processed', 'failed', 'processed'])
    expect(events[1]!.failure_reason).toBe('afterIncomingMessage: TypeError: cannot stand this')
    expect(await replies(platform, conversationId)).toEqual(['one', 'two'])
    const [line] = await platform.context.db('logs').where({ event_id: events[1]!.id, level: 'error' })
    expect(line!.message).toContain('afterIncomingMessage: TypeError: cannot stand this')
    expect(line!.message).toContain('bot.ts:5:')
    expect(events[1]!.attempt).toBe(1)
  })

  test('is tried again when the bot says so, while its conversation waits and others do not', async () => {
    const bot = await platform.createBot(`
      export const retry = { attempts: 3, backoff: 300 }
      let tries = 0
      export const hooks = {
        async afterIncomingMessage({ event, client }) {
          if (event.preview === 'stubborn' && ++tries < 3) throw new Error('not yet')
          await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: event.preview + tries } })
        },
      }`)
    const chatUser = await createChatUser(bot.chatUrl)
    const [slow, quick] = [await chatUser.createConversation(), await chatUser.createConversation()]
    await chatUser.send(slow, 'stubborn')
    await chatUser.send(slow, 'after')
    await chatUser.send(quick, 'meanwhile')
    await expect.poll(() => replies(platform, quick), { timeout: 10_000 }).toHaveLength(1)
    const events = await endedEvents(platform, bot.id, 3)
    expect(await replies(platform, slow)).toEqual(['stubborn3', 'after3'])
    expect(events.find(({ attempt }) => attempt === 3)).toMatchObject({ status: 'processed', failures: 2 })
  })

  test('fails for good when the tries are used up', async () => {
    const { event } = await tell(`
      export const retry = { attempts: 2, backoff: 0 }
      export const hooks = { afterIncomingMessage() { throw new Error('never') } }`)
    expect(event).toMatchObject({ status: 'failed', failures: 2, failure_reason: 'afterIncomingMessage: Error: never' })
  })
})

describe('state', () => {
  const counter = `
    export const hooks = {
      async afterIncomingMessage({ event, client, state }) {
        for (const part of ['bot', 'user', 'conversation', 'session', 'temp']) state[part].count = (state[part].count ?? 0) + 1
        const { bot, user, conversation, session, temp } = state
        const counts = [bot, user, conversation, session, temp].map(({ count }) => count).join(' ')
        await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: counts } })
      },
    }`

  test('is kept for the bot, the user, the conversation and the session, and temp is not', async () => {
    const bot = await platform.createBot(counter)
    const chatUser = await createChatUser(bot.chatUrl)
    const [first, second] = [await chatUser.createConversation(), await chatUser.createConversation()]
    for (const [index, conversationId] of [first, first, second].entries()) {
      await chatUser.send(conversationId, 'count')
      await endedEvents(platform, bot.id, index + 1)
    }
    expect(await replies(platform, first)).toEqual(['1 1 1 1 1', '2 2 2 2 1'])
    expect(await replies(platform, second)).toEqual(['3 3 1 1 1'])
  })

  test('of one user changes in two conversations at once without either undoing the other', async () => {
    const bot = await platform.createBot(`
      export const hooks = {
        async afterIncomingMessage({ event, state }) {
          state.user[event.preview] = true
          await new Promise((resolve) => setTimeout(resolve, 200))
        },
      }`)
    const chatUser = await createChatUser(bot.chatUrl)
    const conversations = await Promise.all(Array.from({ length: 5 }, () => chatUser.createConversation()))
    await Promise.all(conversations.map((conversationId, index) => chatUser.send(conversationId, `key${index}`)))
    await endedEvents(platform, bot.id, 5)
    const [state] = await platform.context.db('states').where({ bot_id: bot.id, type: 'user' })
    expect(state!.payload).toEqual({ key0: true, key1: true, key2: true, key3: true, key4: true })
  })

  test('that grows past its limit fails the event and is not kept', async () => {
    const { bot, event } = await tell(`
      export const hooks = { afterIncomingMessage({ state }) { state.user.big = 'x'.repeat(130 * 1024) } }`)
    expect(event).toMatchObject({
      status: 'failed',
      failure_reason: expect.stringContaining('event.state.user has 131 KB'),
    })
    expect(await platform.context.db('states').where({ bot_id: bot.id })).toEqual([])
  })

  test('with text that cannot be stored fails the event, and the conversation goes on', async () => {
    const bot = await platform.createBot(`
      export const hooks = {
        afterIncomingMessage({ event, state }) {
          console.log('zero \\0 and half \\uD800')
          if (event.preview === 'bad') state.user.text = 'zero \\0'
        },
      }`)
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    for (const text of ['bad', 'good']) await chatUser.send(conversationId, text)
    const events = await endedEvents(platform, bot.id, 2)
    expect(events.map(({ status }) => status)).toEqual(['failed', 'processed'])
    expect(events[0]!.failure_reason).toContain('cannot be stored')
    expect(await platform.context.db('logs').where({ bot_id: bot.id, level: 'info' }).pluck('message')).toEqual(
      Array.from({ length: 2 }, () => 'zero \uFFFD and half \uFFFD'),
    )
  })

  test('of a failed event is not kept', async () => {
    const { bot } = await tell(`
      export const hooks = { afterIncomingMessage({ state }) { state.user.half = 'done'; throw new Error('half-way') } }`)
    expect(await platform.context.db('states').where({ bot_id: bot.id })).toEqual([])
  })

  test('of a user whom the hook deletes is not kept, and the others are', async () => {
    const { bot, event } = await tell(`
      export const hooks = {
        async afterIncomingMessage({ event, state, client }) {
          for (const part of ['bot', 'user', 'conversation']) state[part].name = 'Ann'
          await client.deleteUser({ id: event.userId })
        },
      }`)
    expect(event).toMatchObject({ status: 'processed' })
    const kept = await platform.context.db('states').where({ bot_id: bot.id }).orderBy('type').pluck('type')
    expect(kept).toEqual(['bot', 'conversation'])
  })

  test('forgets the keys that a hook deletes', async () => {
    const bot = await platform.createBot(`
      export const hooks = {
        afterIncomingMessage({ event, state }) {
          if (event.preview === 'set') Object.assign(state.bot, { kept: 1, dropped: 2 })
          else delete state.bot.dropped
        },
      }`)
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    await chatUser.send(conversationId, 'set')
    await chatUser.send(conversationId, 'delete')
    await endedEvents(platform, bot.id, 2)
    expect(await platform.context.db('states').where({ bot_id: bot.id }).pluck('payload')).toEqual([{ kept: 1 }])
  })
})

describe('logs', () => {
  test('of console and logger are kept with their event, in order', async () => {
    const { event, conversationId } = await tell(`
      export const hooks = {
        async afterIncomingMessage({ logger }) {
          console.log('counting %d', 1, { two: 3 })
          logger.warn('careful')
          await new Promise((resolve) => setTimeout(resolve, 1))
          console.error(new Error('ouch').message)
        },
      }`)
    const lines = await platform.context.db('logs').where({ event_id: event.id }).orderBy('id')
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ['info', expect.stringMatching(/^counting 1 .*two.*3/)],
      ['warn', 'careful'],
      ['error', 'ouch'],
    ])
    expect(lines[0]).toMatchObject({ conversation_id: conversationId })
  })
})

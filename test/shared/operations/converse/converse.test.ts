import { Client } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { authorise } from '#shared/rpc/caller.ts'
import { createChatUser } from '../../../support/chat-client.ts'
import { createMember } from '../../../support/members.ts'
import { openPlatform, send, type Answer, type DeployedBot, type Platform } from '../../../support/platform.ts'

const code = `
  export const hooks = {
    async afterIncomingMessage({ event, client, state }) {
      const say = (type, payload) => client.createMessage({ conversationId: event.conversationId, type, payload })
      const { payload } = event
      state.user.said = [...(state.user.said ?? []), event.preview]
      state.session.last = event.preview
      if (payload.text === 'wait') await new Promise((resolve) => setTimeout(resolve, 50))
      if (payload.text === 'all') {
        await say('markdown', { markdown: '*m*' })
        await say('image', { imageUrl: 'https://x.example/i', title: 'i' })
        await say('choice', { text: 'Which?', options: [{ label: 'One', value: '1' }] })
        await say('card', { title: 'c', imageUrl: 'https://x.example/c', actions: [
          { action: 'say', label: 's', value: 'S' }, { action: 'url', label: 'u', value: 'U' }, { action: 'postback', label: 'p', value: 'P' } ] })
        return say('bloc', { items: [{ type: 'text', payload: { text: 'a' } }, { type: 'file', payload: { fileUrl: 'https://x.example/f' } }] })
      }
      if (payload.text === 'correct') {
        const { message } = await say('text', { text: 'wrong' })
        return client.updateMessage({ id: message.id, payload: { text: 'right' } })
      }
      if (payload.text === 'correct it') {
        const { messages } = await client.listMessages({ conversationId: event.conversationId })
        const { id } = messages.find(({ direction }) => direction === 'outgoing')
        return client.updateMessage({ id, payload: { text: 'better' } })
      }
      await say('text', { text: state.user.said.join() + (payload.value ? '=' + payload.value : '') + (payload.metadata?.from ?? '') })
      if (payload.text === 'fail') throw new Error('the secret reason')
    },
  }`

/** Its event is run again much later than the caller waits. */
const once = `
  export const retry = { attempts: 2, backoff: 600000 }
  export const hooks = { afterIncomingMessage: () => { throw new Error('later') } }`

let platform: Platform
let bot: DeployedBot
beforeAll(async () => {
  platform = await openPlatform({ backEnd: 'postgres' })
  bot = await openBot(code, 'public')
})
afterAll(() => platform[Symbol.asyncDispose]())

async function openBot(source: string, converse: string | undefined, fields: object = {}): Promise<DeployedBot> {
  const created = await platform.createBot(source, fields)
  const integrations = { chat: { configuration: converse === undefined ? {} : { converse } } }
  const { status, body } = await platform.ask('PUT', `/v1/admin/bots/${created.id}`, { integrations })
  if (status !== 200) throw new Error(`updateBot: ${JSON.stringify(body)}`)
  return created
}

const addressOf = ({ id }: Pick<DeployedBot, 'id'>, userId: string, end = '') =>
  `${platform.url}/api/v1/bots/${id}/converse/${encodeURIComponent(userId)}${end}`

const say = (to: Pick<DeployedBot, 'id'>, userId: string, text: unknown, fields: object = {}) =>
  send('POST', addressOf(to, userId), { type: 'text', text, ...fields })

const saySecured = (userId: string, body: unknown, { query = '', token = platform.token, to = bot } = {}) =>
  send('POST', addressOf(to, userId, `/secured${query}`), body, { authorization: token && `Bearer ${token}` })

const textsOf = ({ body }: Answer) => (body.responses as { text: string }[]).map(({ text }) => text)

describe('the Converse API', () => {
  test('answers a text with the messages of the bot, and continues the conversation of its user', async () => {
    const first = await say(bot, 'ann', 'one')
    expect(first).toMatchObject({ status: 200, body: { responses: [{ type: 'text', text: 'one' }] } })
    expect(textsOf(await say(bot, 'ann', 'two', { metadata: { from: '!' }, includedContexts: ['global'] }))).toEqual([
      'one,two!',
    ])
    expect(textsOf(await say(bot, '+49 151/ben@example.com', 'three'))).toEqual(['three'])
    expect(textsOf(await send('POST', addressOf(bot, '+49 151/ben@example.com'), { text: 'four' }))).toEqual([
      'three,four',
    ])
  })

  test('has the messages in the form of v12', async () => {
    const { body } = await say(bot, 'forms', 'all')
    expect(body.responses).toEqual([
      { type: 'text', text: '*m*', markdown: true },
      { type: 'image', image: 'https://x.example/i', title: 'i' },
      { type: 'single-choice', text: 'Which?', choices: [{ title: 'One', value: '1' }] },
      {
        type: 'card',
        title: 'c',
        image: 'https://x.example/c',
        actions: [
          { action: 'Say something', title: 's', text: 'S' },
          { action: 'Open URL', title: 'u', url: 'U' },
          { action: 'Postback', title: 'p', payload: 'P' },
        ],
      },
      { type: 'text', text: 'a' },
      { type: 'file', file: 'https://x.example/f' },
    ])
  })

  test('has a message once, as it is in the end, and none of earlier answers', async () => {
    expect(textsOf(await say(bot, 'eve', 'correct'))).toEqual(['right'])
    expect(textsOf(await say(bot, 'eve', 'correct it'))).toEqual([])
  })

  test('gives each of several messages at once its own answer, in order', async () => {
    const answers = await Promise.all(['wait', 'b', 'wait', 'd'].map((text) => say(bot, 'busy', text)))
    const lengths = answers.map((answer) => textsOf(answer).map((text) => text.split(',').length))
    expect(new Set(lengths.flat())).toEqual(new Set([1, 2, 3, 4]))
    for (const [index, answer] of answers.entries()) {
      expect(textsOf(answer)[0]!.endsWith(['wait', 'b', 'wait', 'd'][index]!)).toBe(true)
    }
  })

  test('is closed unless the configuration opens it', async () => {
    const closed = await openBot(code, undefined)
    const secured = await openBot(code, 'secured')
    for (const [answer, problem] of [
      [await say(closed, 'ann', 'hi'), 'is disabled: set "converse"'],
      [await saySecured('ann', { text: 'hi' }, { to: closed }), 'is disabled: set "converse"'],
      [await say(secured, 'ann', 'hi'), 'takes requests with a token only'],
    ] as const) {
      expect(answer).toMatchObject({ status: 403, body: { type: 'Forbidden' } })
      expect(answer.body.message).toContain(problem)
    }
    expect(textsOf(await saySecured('ann', { text: 'hi' }, { to: secured }))).toEqual(['hi'])
    expect(await say({ id: 'absent' }, 'ann', 'hi')).toMatchObject({ status: 404 })
    const { status } = await platform.ask('PUT', `/v1/admin/bots/${closed.id}`, {
      integrations: { chat: { configuration: { converse: 'open' } } },
    })
    expect(status).toBe(400)
  })

  test('takes texts only without a token, and shows no more than responses', async () => {
    for (const body of [
      { type: 'image', imageUrl: 'https://x.example/i' },
      { type: 'text' },
      { text: '' },
      { text: { $: 1 } },
      [],
      '{"text":',
    ]) {
      expect(await send('POST', addressOf(bot, 'strange'), body)).toMatchObject({ status: 400 })
    }
    for (const userId of ['x'.repeat(201), 'a\u0000b', 'a\nb']) {
      expect(await say(bot, userId, 'hi')).toMatchObject({ status: 400 })
    }
    expect(await say(bot, 'strange', 'x'.repeat(1024 * 1024))).toMatchObject({ status: 413 })
    const state = await send('POST', addressOf(bot, 'strange', '?include=state'), { text: 'hi' })
    expect(state).toMatchObject({ status: 403, body: { type: 'Forbidden' } })
    // The body has no say in it.
    expect((await say(bot, '__proto__', 'hi', { include: 'state' })).body).toEqual({
      responses: [{ type: 'text', text: 'hi' }],
    })
  })

  test('takes other messages with a token of the bot or of its workspace, and shows the state on request', async () => {
    const { body: key } = await platform.ask('POST', '/v1/admin/bots/baks', { botId: bot.id })
    const answer = await saySecured('cara', { type: 'quick_reply', text: 'Yes', payload: 'yes' }, { token: key.value })
    expect(answer).toMatchObject({ status: 200, body: { responses: [{ text: 'Yes=yes' }] } })
    const shown = await saySecured('cara', { text: 'more' }, { query: '?include=state,NLU,suggestions,decision' })
    expect(shown.body).toEqual({
      responses: [{ type: 'text', text: 'Yes,more' }],
      state: { user: { said: ['Yes', 'more'] }, session: { last: 'more' }, temp: {}, context: {} },
      nlu: expect.objectContaining({ intent: expect.objectContaining({ name: 'none' }) as unknown }) as unknown,
      suggestions: [],
      decision: {},
    })
    expect(await saySecured('cara', { type: 'image' })).toMatchObject({ status: 400 })
    expect(await saySecured('cara', { type: 'visit' })).toMatchObject({ status: 400 })

    const other = await openBot(code, 'public')
    const stranger = await createMember(platform, 'owner')
    const viewer = await createMember(platform, 'viewer', platform.workspaceId)
    for (const [token, status] of [
      ['', 401],
      ['wrong', 401],
      [stranger.authorization.slice(7), 403],
      [viewer.authorization.slice(7), 403],
    ] as const) {
      expect(await saySecured('cara', { text: 'hi' }, { token })).toMatchObject({ status })
    }
    expect(await saySecured('cara', { text: 'hi' }, { token: key.value, to: other })).toMatchObject({ status: 403 })
    const asCode = { kind: 'bot', botId: bot.id, execution: {} } as Parameters<typeof authorise>[0]
    expect(() => authorise(asCode, 'program')).toThrow('is for programs')
  })

  test('has users of its own, apart from those of the chat', async () => {
    const chatUser = await createChatUser(bot.chatUrl, { id: 'dan' })
    const conversationId = await chatUser.createConversation('dan')
    await chatUser.send(conversationId, 'in the chat')
    expect(textsOf(await say(bot, 'dan', 'conversing'))).toEqual(['conversing'])
    const users = await platform.context.db('users').where({ bot_id: bot.id }).whereLike('foreign_id', '%dan')
    expect(new Set(users.map((user) => user.foreign_id))).toEqual(new Set(['converse:dan', 'dan']))
    const [own] = users.filter((user) => user.foreign_id !== 'dan')
    for (const id of ['converse:dan', `converse:${own!.id}`]) {
      expect(await send('POST', `${bot.chatUrl}/users`, { id })).toMatchObject({ status: 400 })
      expect(await chatUser.ask('POST', '/conversations', { id })).toMatchObject({ status: 400 })
      expect([403, 404]).toContain((await chatUser.ask('GET', `/conversations/${id}`)).status)
      expect((await chatUser.send(id, 'in')).status).toBe(403)
    }
  })

  test('begins anew after the deletion of its user', async () => {
    await say(bot, 'eve', 'a secret')
    const client = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.id })
    const { users } = await client.listUsers({ tags: { fid: 'converse:eve' } })
    expect(users).toHaveLength(1)
    await client.deleteUser({ id: users[0]!.id })
    expect(textsOf(await say(bot, 'eve', 'again'))).toEqual(['again'])
  })

  test('begins with the messages of a flow that begins with the conversation', async () => {
    const cards = [{ id: 'greet', type: 'say', message: 'Welcome' }]
    const flow = { id: 'welcome', start: 'first', nodes: [{ id: 'first', cards }] }
    const flows = [{ ...flow, triggers: [{ id: 'new', event: 'conversation_started' }] }]
    const greeting = await openBot(code, 'public', { flows })
    expect(textsOf(await say(greeting, 'ida', 'one'))).toEqual(['Welcome', 'one'])
    expect(textsOf(await say(greeting, 'ida', 'two'))).toEqual(['one,two'])
  })

  test('is carried out once with an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'a-key-of-more-than-twenty-characters' }
    const ask = () => send('POST', addressOf(bot, 'fay'), { text: 'once' }, headers)
    const [first, second] = [await ask(), await ask()]
    expect(second.body).toEqual(first.body)
    expect(textsOf(await say(bot, 'fay', 'then'))).toEqual(['once,then'])
  })

  test('names a failure with the messages before it; the reason is for callers with a token', async () => {
    const failed = await say(bot, 'gus', 'fail')
    expect(failed).toMatchObject({ status: 400, body: { type: 'Runtime' } })
    expect(failed.body.metadata).toMatchObject({
      responses: [{ text: 'fail' }],
      eventId: expect.stringMatching(/^evt_/) as string,
    })
    expect(JSON.stringify(failed.body)).not.toContain('secret')
    const secured = await saySecured('gus', { text: 'fail' })
    expect(secured.body.message).toContain('the secret reason')
  })

  test('holds at most 100 requests of a bot, and names one that does not end in time and goes on', async () => {
    const slow = await openBot(once, 'public', { limits: { wallMilliseconds: 3000 } })
    const answers = await Promise.all(Array.from({ length: 101 }, (_, index) => say(slow, `user-${index}`, 'hi')))
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(1)
    const late = answers.filter(({ status }) => status === 504)
    expect(late).toHaveLength(100)
    expect(late[0]).toMatchObject({ body: { type: 'OperationTimeout' } })
    const [id] = /evt_\w+/.exec(late[0]!.body.message as string)!
    expect(await platform.context.db('events').where({ id }).first()).toMatchObject({ status: 'pending' })
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChatUser, type ChatUser } from '../../../support/chat-client.ts'
import { openPlatform, send, type Answer, type DeployedBot, type Platform } from '../../../support/platform.ts'

let platform: Platform
let bot: DeployedBot
beforeAll(async () => {
  // Real concurrency: as many connections as there are requests at once.
  platform = await openPlatform({ worker: false, environment: { DATABASE_POOL: '20' } })
  bot = await platform.createBot()
})
afterAll(() => platform[Symbol.asyncDispose]())

const payload = { type: 'text', text: 'hi' }
const asBot = (method: string, path: string, body?: unknown) => platform.ask(method, path, body, { 'x-bot-id': bot.id })

/** A user with a conversation of its own, and another whom the user may let in. */
async function meet() {
  const [user, friend] = await Promise.all([createChatUser(bot.chatUrl), createChatUser(bot.chatUrl)])
  const conversationId = await user.createConversation()
  const { body } = await user.send(conversationId, 'hello')
  return { user, friend, conversationId, messageId: body.message.id as string }
}
type Met = Awaited<ReturnType<typeof meet>>

/** Requests of a user, by their operation. */
const actions: Record<string, (met: Met) => Promise<Answer>> = {
  getUser: ({ user }) => user.ask('GET', '/users/me'),
  updateUser: ({ user }) => user.ask('PUT', '/users/me', { name: 'New' }),
  deleteUser: ({ user }) => user.ask('DELETE', '/users/me', {}),
  createConversation: ({ user }) => user.ask('POST', '/conversations', {}),
  getOrCreateConversation: ({ user }) => user.ask('POST', '/conversations/get-or-create', { id: crypto.randomUUID() }),
  listConversations: ({ user }) => user.ask('GET', '/conversations'),
  getConversation: ({ user, conversationId }) => user.ask('GET', `/conversations/${conversationId}`),
  listMessages: ({ user, conversationId }) => user.ask('GET', `/conversations/${conversationId}/messages`),
  listParticipants: ({ user, conversationId }) => user.ask('GET', `/conversations/${conversationId}/participants`),
  addParticipant: ({ user, friend, conversationId }) =>
    user.ask('POST', `/conversations/${conversationId}/participants`, { userId: friend.userId }),
  createMessage: ({ user, conversationId }) => user.send(conversationId, 'hi'),
  createEvent: ({ user, conversationId }) => user.ask('POST', '/events', { conversationId, payload }),
  getMessage: ({ user, messageId }) => user.ask('GET', `/messages/${messageId}`),
  deleteMessage: ({ user, messageId }) => user.ask('DELETE', `/messages/${messageId}`, {}),
  deleteConversation: ({ user, conversationId }) => user.ask('DELETE', `/conversations/${conversationId}`, {}),
}

/** The same as one transaction. */
function once(chatUser: ChatUser, path: string, body: object): Promise<Answer> {
  const headers = { 'x-user-key': chatUser.key, 'idempotency-key': crypto.randomUUID() }
  return send('POST', `${bot.chatUrl}${path}`, body, headers)
}

describe('after deleteUser of the caller', () => {
  test.each(Object.keys(actions))('%s answers 404', async (name) => {
    const met = await meet()
    expect((await met.user.ask('DELETE', '/users/me', {})).status).toBe(200)
    const { status, body } = await actions[name]!(met)
    expect({ status, message: body.message }).toEqual({ status: 404, message: expect.stringMatching(/not found/i) })
  })
})

/** Has many do something at the same time as what it is about vanishes; gives the statuses of all answers. */
async function race(rounds: number, one: (met: Met) => Promise<Answer>, vanish: (met: Met) => Promise<Answer>) {
  const met = await Promise.all(Array.from({ length: rounds }, meet))
  const answers = await Promise.all(
    met.flatMap((each, index) => {
      const both = [() => one(each), () => vanish(each), () => one(each)]
      return (index % 2 ? both : both.toReversed()).map((act) => act())
    }),
  )
  return [...new Set(answers.map(({ status }) => status))].toSorted((a, b) => a - b)
}

const rounds = 24
const fine = [200, 201, 401, 404]

describe('while deleteUser of the caller is under way', () => {
  test.each([
    ...Object.entries(actions),
    ['createConversation with an Idempotency-Key', ({ user }: Met) => once(user, '/conversations', {})],
    [
      'createMessage with an Idempotency-Key',
      ({ user, conversationId }: Met) => once(user, '/messages', { conversationId, payload }),
    ],
  ] as [string, (met: Met) => Promise<Answer>][])('%s succeeds or answers 404', async (_name, act) => {
    const statuses = await race(rounds, act, ({ user }) => user.ask('DELETE', '/users/me', {}))
    expect(statuses.filter((status) => !fine.includes(status))).toEqual([])
  })
})

const deleteFriend = ({ friend }: Met) => friend.ask('DELETE', '/users/me', {})

describe('while what it is about vanishes', () => {
  const chat = `/v1/chat`
  const deleteConversation = ({ conversationId }: Met) => asBot('DELETE', `${chat}/conversations/${conversationId}`)
  const schedule = { delay: 3_600_000 }

  test.each<[string, (met: Met) => Promise<Answer>, (met: Met) => Promise<Answer>]>([
    ['addParticipant of who is deleted', actions['addParticipant']!, deleteFriend],
    ['addParticipant in a conversation that is deleted', actions['addParticipant']!, deleteConversation],
    ['createMessage in a conversation that is deleted', actions['createMessage']!, deleteConversation],
    ['createEvent in a conversation that is deleted', actions['createEvent']!, deleteConversation],
    ['deleteMessage in a conversation that is deleted', actions['deleteMessage']!, deleteConversation],
    [
      'the bot’s addParticipant of who is deleted',
      ({ conversationId, friend }) =>
        asBot('POST', `${chat}/conversations/${conversationId}/participants`, { userId: friend.userId }),
      deleteFriend,
    ],
    [
      'the bot’s createMessage in a conversation that is deleted',
      ({ conversationId }) =>
        asBot('POST', `${chat}/messages`, { conversationId, type: 'text', payload: { text: 'hi' } }),
      deleteConversation,
    ],
    [
      'the bot’s createEvent for later in a conversation that is deleted',
      ({ conversationId }) => asBot('POST', `${chat}/events`, { conversationId, type: 'x', payload: {}, schedule }),
      deleteConversation,
    ],
    [
      'the bot’s createWorkflow in a conversation that is deleted',
      ({ conversationId }) => asBot('POST', `${chat}/workflows`, { conversationId, name: 'w', status: 'pending' }),
      deleteConversation,
    ],
  ])('%s is refused by name or done', async (_name, act, vanish) => {
    const statuses = await race(rounds, act, vanish)
    expect(statuses.filter((status) => ![...fine, 400, 403].includes(status))).toEqual([])
  })
})

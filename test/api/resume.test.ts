import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../cli/postgres/free-port.ts'
import { createChatUser, type ChatUser } from '../support/chat-client.ts'
import { listen as openStream, type EventStream } from '../support/event-stream.ts'
import { backEnds, openPlatform, send, type DeployedBot, type Platform } from '../support/platform.ts'
import { Processes } from '../support/processes.ts'

const opened: EventStream[] = []
const processes = new Processes()
afterEach(async () => {
  await Promise.all(opened.splice(0).map((stream) => stream.close()))
  await processes.stop()
})

async function listen(chatUrl: string, key: string, conversationId: string, lastEventId?: string) {
  const stream = await openStream(chatUrl, key, conversationId, { lastEventId })
  opened.push(stream)
  return stream
}

const texts = (stream: EventStream) => stream.frames().map(({ data }) => data.payload?.text)

let platform: Platform
let bot: DeployedBot
let alice: ChatUser
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  bot = await platform.createBot()
  alice = await createChatUser(bot.chatUrl, { id: 'alice' })
})
afterAll(() => platform[Symbol.asyncDispose]())

test('a user who sends a message and listens at once receives it, and nothing older', async () => {
  const conversationId = await alice.createConversation()
  await alice.send(conversationId, 'long ago')
  await platform.context
    .db('messages')
    .where({ conversation_id: conversationId })
    .update({ created_at: new Date(Date.now() - 60_000) })
  await alice.ask('POST', '/events', { conversationId, payload: { of: 'the past' } })
  await alice.send(conversationId, 'just now')
  const stream = await listen(bot.chatUrl, alice.key, conversationId)
  await alice.send(conversationId, 'from now on')
  await expect.poll(() => texts(stream)).toEqual(['just now', 'from now on'])
})

test('a user who reconnects receives every missed entry, of each kind, in order and once', async () => {
  const bob = await createChatUser(bot.chatUrl, { id: 'bob' })
  const conversationId = await alice.createConversation()
  const before = await listen(bot.chatUrl, alice.key, conversationId)
  await alice.send(conversationId, 'heard')
  await expect.poll(before.ids).toHaveLength(1)
  await before.close()

  const message = (await alice.send(conversationId, 'missed')).body.message
  const event = (await alice.ask('POST', '/events', { conversationId, payload: { any: 'thing' } })).body.event
  await alice.ask('POST', `/conversations/${conversationId}/participants`, { userId: 'bob' })
  const bobs = (await bob.send(conversationId, 'hello')).body.message
  await alice.ask('DELETE', `/conversations/${conversationId}/participants/bob`)
  const regretted = (await alice.send(conversationId, 'regretted')).body.message
  await alice.ask('DELETE', `/messages/${regretted.id}`)

  const after = await listen(bot.chatUrl, alice.key, conversationId, before.ids()[0])
  await alice.send(conversationId, 'live again')
  await expect.poll(() => texts(after).at(-1)).toBe('live again')
  const common = { conversationId }
  expect(after.frames().slice(0, -1)).toEqual([
    { type: 'message_created', data: { ...message, isBot: false } },
    { type: 'event_created', data: { ...event, isBot: false } },
    { type: 'participant_added', data: { ...common, participantId: 'bob' } },
    { type: 'message_created', data: { ...bobs, isBot: false } },
    { type: 'participant_removed', data: { ...common, participantId: 'bob' } },
    { type: 'message_deleted', data: { ...common, id: regretted.id, userId: 'alice' } },
  ])
  const ids = after.ids().map(Number)
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b))
})

test('more is made up for than is read at once', async () => {
  const conversationId = await alice.createConversation()
  const before = await listen(bot.chatUrl, alice.key, conversationId)
  await alice.send(conversationId, 'heard')
  await expect.poll(before.ids).toHaveLength(1)
  await before.close()
  const missed = Array.from({ length: 250 }, (_, index) => String(index))
  for (const text of missed) await alice.send(conversationId, text)
  const after = await listen(bot.chatUrl, alice.key, conversationId, before.ids()[0])
  await expect.poll(() => texts(after)).toEqual(missed)
})

test('a user who was removed and added again meanwhile goes on listening', async () => {
  const carol = await createChatUser(bot.chatUrl, { id: 'carol' })
  const conversationId = await alice.createConversation()
  const participants = `/conversations/${conversationId}/participants`
  await alice.ask('POST', participants, { userId: 'carol' })
  const { body } = await alice.send(conversationId, 'heard')
  const lastEventId = String(Date.parse(body.message.createdAt))
  await alice.ask('DELETE', `${participants}/carol`)
  expect((await listen(bot.chatUrl, carol.key, conversationId, lastEventId)).response.status).toBe(403)
  await alice.ask('POST', participants, { userId: 'carol' })
  const stream = await listen(bot.chatUrl, carol.key, conversationId, lastEventId)
  await alice.send(conversationId, 'welcome back')
  await expect.poll(() => texts(stream).at(-1)).toBe('welcome back')
  await alice.ask('DELETE', `${participants}/carol`)
  await stream.ended
  expect(stream.frames().map(({ type }) => type)).toEqual(['participant_added', 'message_created'])
})

test.each([
  ['by its own key', (key: string) => send('DELETE', `${bot.chatUrl}/users/me`, undefined, { 'x-user-key': key })],
  [
    'by the bot',
    async (_key: string, id: string) =>
      platform.ask('DELETE', `/v1/chat/users/${id}`, undefined, { 'x-bot-id': bot.id }),
  ],
])('who is deleted %s hears nothing more; others do', async (_how, remove) => {
  const dora = await createChatUser(bot.chatUrl)
  const { user } = (await dora.ask('GET', '/users/me')).body
  const conversationId = await alice.createConversation()
  await alice.ask('POST', `/conversations/${conversationId}/participants`, { userId: user.id })
  const [ofDora, ofAlice] = [
    await listen(bot.chatUrl, dora.key, conversationId),
    await listen(bot.chatUrl, alice.key, conversationId),
  ]
  expect((await remove(dora.key, user.id)).status).toBe(200)
  await ofDora.ended
  await alice.send(conversationId, 'is she gone?')
  await expect.poll(() => texts(ofAlice)).toEqual(['is she gone?'])
  expect(texts(ofDora)).toEqual([])
})

test.each(['yesterday', '1e3', '-1', ''.padEnd(20, '9')])('the Last-Event-ID %j is refused', async (lastEventId) => {
  const conversationId = await alice.createConversation()
  const { response } = await listen(bot.chatUrl, alice.key, conversationId, lastEventId)
  expect(response.status).toBe(400)
})

describe.each(backEnds)('on %s', (backEnd) => {
  test('the api process of a listener is killed: the listener goes on at another one, misses nothing and receives nothing twice', async () => {
    await using shared = await openPlatform({ backEnd, worker: false })
    await processes.start(shared, 'worker')
    const port = String(await freePort())
    const victim = await processes.start(shared, 'api', { PORT: port })
    const echo = await shared.createBot(`
      export const hooks = {
        async afterIncomingMessage({ event, client }) {
          await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: 're: ' + event.preview } })
        },
      }`)
    const chatUser = await createChatUser(echo.chatUrl)
    const conversationId = await chatUser.createConversation()
    const there = `http://127.0.0.1:${port}/chat/${echo.webhookId}`
    await expect
      .poll(
        () =>
          fetch(`${there}/hello`).then(
            ({ ok }) => ok,
            () => false,
          ),
        { timeout: 50_000 },
      )
      .toBe(true)
    const before = await listen(there, chatUser.key, conversationId)

    const said = Array.from({ length: 40 }, (_, index) => `message ${index}`)
    for (const text of said.slice(0, 10)) await chatUser.send(conversationId, text)
    await expect.poll(before.ids, { timeout: 20_000 }).not.toHaveLength(0)
    // In the middle of what the bot answers.
    process.kill(victim.pid, 'SIGKILL')
    await before.ended
    for (const text of said.slice(10)) await chatUser.send(conversationId, text)
    const after = await listen(echo.chatUrl, chatUser.key, conversationId, before.ids().at(-1))

    const all = said.flatMap((text) => [text, `re: ${text}`])
    const heard = () => [...texts(before), ...texts(after)]
    await expect.poll(() => heard().length, { timeout: 30_000 }).toBeGreaterThanOrEqual(all.length)
    expect(heard()).toHaveLength(all.length)
    expect(new Set(heard())).toEqual(new Set(all))
    const ids = [...before.ids(), ...after.ids()].map(Number)
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
  })
})

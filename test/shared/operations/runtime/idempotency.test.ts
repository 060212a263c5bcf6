import { randomUUID } from 'node:crypto'
import { Client as ChatClient } from '@botpress/chat'
import { Client } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deleteOldKeys } from '#shared/store/idempotency-keys.ts'
import { freePort } from '../../../../cli/postgres/free-port.ts'
import { createChatUser, type ChatUser } from '../../../support/chat-client.ts'
import {
  backEnds,
  openPlatform,
  send,
  type Answer,
  type DeployedBot,
  type Platform,
} from '../../../support/platform.ts'
import { startProcess } from '../../../support/processes.ts'

const echo = `
  export const actions = { async greet({ input, logger }) { logger.info('greeting'); return { text: 'Hello ' + input.name } } }
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const payload = { text: 'You said ' + event.preview }
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload })
    },
  }`

describe.each(backEnds)('a request with an Idempotency-Key, on %s', (backEnd) => {
  let platform: Platform
  let bot: DeployedBot
  let chatUser: ChatUser
  beforeAll(async () => {
    platform = await openPlatform({ backEnd })
    bot = await platform.createBot(echo)
    chatUser = await createChatUser(bot.chatUrl)
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  const inChat = (path: string, body: object, key: string, headers: object = {}) =>
    send('POST', `${bot.chatUrl}${path}`, body, { 'x-user-key': chatUser.key, 'idempotency-key': key, ...headers })
  const say = (conversationId: string, text: string, key: string) =>
    inChat('/messages', { conversationId, payload: { type: 'text', text } }, key)
  const createUser = (key: string) => send('POST', `${bot.chatUrl}/users`, {}, { 'idempotency-key': key })
  const asBot = (path: string, body: object, key: string, id = bot.id) =>
    platform.ask('POST', `/v1/chat${path}`, body, { 'x-bot-id': id, 'idempotency-key': key })

  test('is carried out once, and answered the same again', async () => {
    const conversationId = await chatUser.createConversation()
    const key = randomUUID()
    const first = await say(conversationId, 'one', key)
    const again = await say(conversationId, 'one', key)
    expect(first.status).toBe(201)
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    expect(again).toMatchObject({ status: 201, body: first.body })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    await expect
      .poll(async () => (await chatUser.messages(conversationId)).map(({ text }) => text), { timeout: 10_000 })
      .toEqual(['one', 'You said one'])
  })

  test('is carried out once by many who send it at the same moment', async () => {
    const conversationId = await chatUser.createConversation()
    const key = randomUUID()
    const answers = await Promise.all(Array.from({ length: 20 }, () => say(conversationId, 'one', key)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(answers.map(({ body }) => body.message.id)).size).toBe(1)
    expect(answers.filter(({ headers }) => !headers.has('idempotent-replayed'))).toHaveLength(1)
    await expect.poll(async () => (await chatUser.messages(conversationId)).length, { timeout: 10_000 }).toBe(2)
  })

  test('may have its key in quotes, as the draft has it', async () => {
    const conversationId = await chatUser.createConversation()
    const key = randomUUID()
    const [bare, quoted] = [await say(conversationId, 'one', key), await say(conversationId, 'one', `"${key}"`)]
    expect(quoted.body).toEqual(bare.body)
  })

  test('is refused with the key of another request', async () => {
    const conversationId = await chatUser.createConversation()
    const key = randomUUID()
    await say(conversationId, 'one', key)
    expect(await say(conversationId, 'two', key)).toMatchObject({
      status: 422,
      body: { code: 422, type: 'InvalidPayload', message: expect.stringContaining('a different request') },
    })
    expect((await chatUser.messages(conversationId)).filter(({ userId }) => userId === chatUser.userId)).toHaveLength(1)
  })

  test.each([
    ['no key at all', ''],
    ['one that is too long', 'k'.repeat(256)],
    ['one with a space', 'a key'],
  ])('is refused with %s', async (_what, key) => {
    const answer = await say(await chatUser.createConversation(), 'one', key)
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining('Idempotency-Key') } })
  })

  test('that fails may be sent again with its key', async () => {
    const key = randomUUID()
    const id = `own-${randomUUID()}`
    const missing = await inChat('/messages', { conversationId: id, payload: { type: 'text', text: 'one' } }, key)
    expect(missing.status).toBeGreaterThanOrEqual(400)
    await chatUser.createConversation(id)
    expect(await say(id, 'one', key)).toMatchObject({ status: 201 })
  })

  test('has its key to itself: another user, bot or operation with the same is another request', async () => {
    const key = randomUUID()
    const other = await createChatUser(bot.chatUrl)
    const mine = await inChat('/conversations', {}, key)
    const theirs = await inChat('/conversations', {}, key, { 'x-user-key': other.key })
    expect(theirs.status).toBe(201)
    expect(theirs.body.conversation.id).not.toBe(mine.body.conversation.id)
    const secondBot = await platform.createBot(echo)
    const users = [await asBot('/users', { tags: {} }, key), await asBot('/users', { tags: {} }, key, secondBot.id)]
    expect(users.map(({ status }) => status)).toEqual([201, 201])
    expect(users[0]!.body.user.id).not.toBe(users[1]!.body.user.id)
  })

  test('of a visitor needs a key that cannot be guessed, since the answer holds a user’s key', async () => {
    expect(await createUser('1')).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('20 to 255') },
    })
    const key = randomUUID()
    const [first, again] = [await createUser(key), await createUser(key)]
    expect(first.status).toBe(201)
    expect(again.body).toEqual(first.body)
    const rows = await platform.context.db('idempotency_keys').select()
    expect(JSON.stringify(rows)).not.toContain(first.body.key)
    for (const { reply } of rows) expect(String(reply)).toMatch(/^eyJ/)
  })

  test('that waits for a worker is carried out once as well', async () => {
    const key = randomUUID()
    const call = () => asBot('/actions', { type: 'greet', input: { name: 'Ada' } }, key)
    const first = await call()
    expect(first).toMatchObject({ status: 200, body: { output: { text: 'Hello Ada' } } })
    expect(await call()).toMatchObject({ status: 200, body: first.body })
    const greeted = await platform.context.db('logs').where({ bot_id: bot.id, message: 'greeting' })
    expect(greeted).toHaveLength(1)
    const create = (name: string) =>
      platform.ask('POST', '/v1/admin/bots', { name, code: echo }, { 'idempotency-key': key })
    const [bots, repeated] = [await create('one'), await create('one')]
    expect(bots.status).toBe(200)
    expect(repeated.body).toEqual(bots.body)
    expect((await create('two')).status).toBe(422)
  })

  test('that waits for a worker and was cut off is not guessed at', async () => {
    const key = randomUUID()
    const call = () => asBot('/actions', { type: 'greet', input: { name: 'Bob' } }, key)
    await call()
    // The row that a request leaves whose process was killed.
    await platform.context.db('idempotency_keys').orderBy('created_at', 'desc').limit(1).update({ reply: null })
    const answer = await call()
    expect(answer).toMatchObject({ status: 409, body: { message: expect.stringContaining('fresh key') } })
    expect(answer.headers.get('retry-after')).toBe('1')
  })

  test('is kept for 24 hours', async () => {
    const { db } = platform.context
    const conversationId = await chatUser.createConversation()
    const keys = [randomUUID(), randomUUID()]
    const before = await Promise.all(keys.map((key) => say(conversationId, 'one', key)))
    await db('idempotency_keys').update({ created_at: db.raw(`now() - interval '23 hours'`) })
    await deleteOldKeys(db, 100)
    const kept = await say(conversationId, 'one', keys[0]!)
    expect(kept.body).toEqual(before[0]!.body)
    await db('idempotency_keys').update({ created_at: db.raw(`now() - interval '25 hours'`) })
    await deleteOldKeys(db, 1)
    expect(Number((await db('idempotency_keys').count())[0]!.count)).toBeGreaterThan(0)
    await deleteOldKeys(db, 1000)
    const anew = await Promise.all(keys.map((key) => say(conversationId, 'one', key)))
    expect(anew.map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, null])
  })

  test('with a published client is one more header', async () => {
    const key = randomUUID()
    const chat = new ChatClient({ apiUrl: bot.chatUrl, headers: { 'idempotency-key': key } })
    const create = () => chat.createConversation({ 'x-user-key': chatUser.key })
    expect((await create()).conversation).toEqual((await create()).conversation)
    const client = new Client({
      apiUrl: platform.url,
      token: platform.token,
      botId: bot.id,
      headers: { 'Idempotency-Key': key },
    })
    const [first, second] = [await client.createUser({ tags: {} }), await client.createUser({ tags: {} })]
    expect(second).toEqual(first)
  })

  test('survives the kill of its api process at any moment', { timeout: 120_000 }, async () => {
    const conversationId = await chatUser.createConversation()
    const pending = new Map<string, string>(
      Array.from({ length: 120 }, (_, index) => [randomUUID(), `message ${index}`]),
    )
    for (let life = 0; pending.size > 0; life++) {
      const port = await freePort()
      const api = await startProcess(platform, 'api', { PORT: String(port) })
      const gone = new AbortController()
      void api.exited.then(() => gone.abort())
      const url = `http://127.0.0.1:${port}${new URL(bot.chatUrl).pathname}/messages`
      try {
        await expect
          .poll(
            () =>
              fetch(`http://127.0.0.1:${port}/healthz`).then(
                ({ ok }) => ok,
                () => false,
              ),
            {
              timeout: 30_000,
            },
          )
          .toBe(true)
        let answered = 0
        const ask = async ([key, text]: [string, string]) => {
          const body = { conversationId, payload: { type: 'text', text } }
          const headers = { 'x-user-key': chatUser.key, 'idempotency-key': key }
          const answer: Answer | undefined = await send('POST', url, body, headers).catch(() => undefined)
          if (answer?.status !== 201) return
          pending.delete(key)
          // In the middle of the others; the third process is left alone.
          if (++answered === 20 && life < 2) process.kill(api.pid, 'SIGKILL')
        }
        while (pending.size > 0 && !gone.signal.aborted) await Promise.all([...pending].map(ask))
      } finally {
        await api.stop()
      }
    }
    const texts = async () => (await chatUser.messages(conversationId)).map(({ text }) => text)
    await expect.poll(async () => (await texts()).length, { timeout: 60_000 }).toBeGreaterThanOrEqual(240)
    const heard = await texts()
    expect(heard.filter((text) => text.startsWith('message')).length).toBe(120)
    expect(new Set(heard).size).toBe(240)
  })
})

test('an action that goes on after its request has got 504 is not called again by a repetition, which gets its result', async () => {
  await using platform = await openPlatform({ worker: false, environment: { SANDBOX_WALL_MS: '100' } })
  const { db } = platform.context
  const bot = await platform.createBot()
  await db('bots').where({ id: bot.id }).update({ url: 'https://example.com/' })
  const headers = { 'x-bot-id': bot.id, 'idempotency-key': randomUUID() }
  const call = () => platform.ask('POST', '/v1/chat/actions', { type: 'pay', input: {} }, headers)
  expect((await call()).status).toBe(504)
  expect((await call()).status).toBe(504)
  const events = () => db('events').where({ bot_id: bot.id })
  expect(await events()).toMatchObject([{ status: 'pending' }])
  // As a worker ends it.
  await events().update({ status: 'processed', ended_at: db.fn.now(), result: { paid: true } })
  for (const replayed of ['true', 'true']) {
    const answer = await call()
    expect(answer).toMatchObject({ status: 200, body: { output: { paid: true } } })
    expect(answer.headers.get('idempotent-replayed')).toBe(replayed)
  }
  expect(await events()).toHaveLength(1)
}, 40_000)

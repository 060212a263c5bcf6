import { generateKeyPairSync } from 'node:crypto'
import { Client, isApiError } from '@botpress/chat'
import { SignJWT, UnsecuredJWT, type JWTPayload } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '#shared/config/config.ts'
import { openContext } from '#shared/context.ts'
import { installationsTopic } from '#shared/installation-cache.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { startServer } from '../../../../api/server.ts'
import { createChatUser } from '../../../support/chat-client.ts'
import {
  backEnds,
  openPlatform,
  send,
  type Answer,
  type DeployedBot,
  type Platform,
} from '../../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
})
afterAll(() => platform[Symbol.asyncDispose]())

const encryptionKey = 'allo'

async function configure(bot: DeployedBot, configuration: object, on = platform): Promise<void> {
  const { status } = await on.ask('PUT', `/v1/admin/bots/${bot.id}`, { integrations: { chat: { configuration } } })
  expect(status).toBe(200)
}

/** Creates a bot whose users' keys are signed by whoever knows the encryption key. */
async function createManualBot(key = encryptionKey): Promise<DeployedBot> {
  const bot = await platform.createBot()
  await configure(bot, { encryptionKey: key })
  return bot
}

function sign(payload: JWTPayload, key = encryptionKey, alg = 'HS256'): Promise<string> {
  return new SignJWT(payload).setProtectedHeader({ alg }).sign(new TextEncoder().encode(key))
}

function getUser(chatUrl: string, key: string): Promise<Answer> {
  return send('GET', `${chatUrl}/users/me`, undefined, { 'x-user-key': key })
}

const seconds = () => Math.floor(Date.now() / 1000)

describe('with an encryption key of its own, a chat', () => {
  test.each(['allo', 'x', 'ключ 鍵', 'k'.repeat(2000)])(
    'takes the users of the published client that has the key %.9s',
    async (key) => {
      const { chatUrl: apiUrl } = await createManualBot(key)
      const client = await Client.connect({ apiUrl, encryptionKey: key, userId: 'bob' })
      expect(client.user.id).toBe('bob')
      const { conversation } = await client.createConversation({ id: 'talk' })
      const { message } = await client.createMessage({
        conversationId: conversation.id,
        payload: { type: 'text', text: 'Hello' },
      })

      const again = await Client.connect({ apiUrl, encryptionKey: key, userId: 'bob' })
      expect((await again.getUser({})).user.createdAt).toBe(client.user.createdAt)
      expect((await again.getOrCreateConversation({ id: 'talk' })).conversation).toEqual(conversation)
      expect((await again.listMessages({ conversationId: 'talk' })).messages).toEqual([message])
      await again.updateUser({ name: 'Bob' })
      expect((await client.getUser({})).user.name).toBe('Bob')
    },
  )

  test('creates no users for who has no key, and says what to do', async () => {
    const { chatUrl } = await createManualBot()
    const refusal = await Client.connect({ apiUrl: chatUrl }).catch((error: unknown) => error)
    expect(isApiError(refusal) && refusal.type).toBe('Unauthorized')
    expect(await send('POST', `${chatUrl}/users`, { id: 'bob' })).toMatchObject({
      status: 401,
      body: { type: 'Unauthorized', message: expect.stringMatching(/sign \{ id \}.*users\/get-or-create/) },
    })
    expect((await getUser(chatUrl, await sign({ id: 'bob' }))).status).toBe(404)
  })

  test('takes keys within the time that they are valid, also from a server whose clock is a little ahead', async () => {
    const { chatUrl } = await createManualBot()
    const key = await sign({ id: 'bob', nbf: seconds() - 60, exp: seconds() + 600 })
    expect((await send('POST', `${chatUrl}/users/get-or-create`, {}, { 'x-user-key': key })).status).toBe(201)
    const ahead = await sign({ id: 'bob', iat: seconds() + 30, nbf: seconds() + 30 })
    expect((await getUser(chatUrl, ahead)).status).toBe(200)
    const brief = await sign({ id: 'bob', exp: seconds() + 2 })
    expect((await getUser(chatUrl, brief)).status).toBe(200)
    await expect.poll(async () => (await getUser(chatUrl, brief)).status, { timeout: 10_000 }).toBe(401)
  })

  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  test.each([
    ['unsigned', async () => new UnsecuredJWT({ id: 'bob' }).encode()],
    ['signed with RS256', () => new SignJWT({ id: 'bob' }).setProtectedHeader({ alg: 'RS256' }).sign(privateKey)],
    ['signed with HS512', () => sign({ id: 'bob' }, encryptionKey, 'HS512')],
    ['signed with another key', () => sign({ id: 'bob' }, `${encryptionKey} `)],
    ['expired', () => sign({ id: 'bob', exp: seconds() - 1 })],
    ['not valid yet', () => sign({ id: 'bob', nbf: seconds() + 600 })],
    ['with an id that is no string', () => sign({ id: 7 })],
    ['with an empty id', () => sign({ id: '' })],
    ['without an id', () => sign({ sub: 'bob' })],
  ])('refuses a key that is %s', async (_what, make) => {
    const { chatUrl } = await createManualBot()
    await Client.connect({ apiUrl: chatUrl, encryptionKey, userId: 'bob' })
    const key = await make()
    const unauthorized = { status: 401, body: { code: 401, type: 'Unauthorized' } }
    expect(await getUser(chatUrl, key)).toMatchObject(unauthorized)
    expect(await send('POST', `${chatUrl}/users/get-or-create`, {}, { 'x-user-key': key })).toMatchObject(unauthorized)
  })

  test('does not take a key for another chat’s, though it was just seen there', async () => {
    const [one, other] = [await createManualBot('a key'), await createManualBot('a')]
    const key = await sign({ id: 'bob' }, 'a key')
    for (const [bot, status] of [
      [one, 404],
      [other, 401],
      [one, 404],
    ] as const) {
      expect((await getUser(bot.chatUrl, key)).status).toBe(status)
    }
    // Nor when what is between the encryption key and the key could be part of either.
    expect((await getUser(other.chatUrl, `key ${key}`)).status).toBe(401)
  })
})

test('a chat changes from the shared key to its own and back at once, and each key is good in its own time', async () => {
  const bot = await platform.createBot()
  const created = await createChatUser(bot.chatUrl)
  const signed = await sign({ id: created.userId })
  for (const [configuration, shared, own] of [
    [{ encryptionKey }, 401, 200],
    [{ webhookUrl: 'http://127.0.0.1:9/' }, 200, 401],
    [{ encryptionKey: 'and another' }, 401, 401],
    [{}, 200, 401],
  ] as const) {
    await configure(bot, configuration)
    expect((await getUser(bot.chatUrl, created.key)).status).toBe(shared)
    expect((await getUser(bot.chatUrl, signed)).status).toBe(own)
    expect((await send('POST', `${bot.chatUrl}/users`, {})).status).toBe(shared === 200 ? 201 : 401)
  }
})

describe.each(backEnds)('two api processes on %s', (backEnd) => {
  test('go by a change, and by a deletion, as soon as one of them has made it', async () => {
    await using first = await openPlatform({ backEnd, worker: false })
    await using context = openContext(
      readConfig({ ...first.environment, PORT: '0' }),
      createLogger('second', first.context.config.logLevel),
    )
    await using second = await startServer(context)
    const bot = await first.createBot()
    const { key } = await createChatUser(bot.chatUrl)
    const there = `http://127.0.0.1:${second.port}/chat/${bot.webhookId}`
    const answers = async (chatUrl: string) => [
      (await send('GET', `${chatUrl}/hello`)).status,
      (await getUser(chatUrl, key)).status,
    ]
    expect(await answers(there)).toEqual([200, 200])
    // Resolves when the other process listens: its own listener waits for the same subscription.
    await context.signals.subscribe(installationsTopic, () => {})

    for (const [change, expected] of [
      [() => configure(bot, { encryptionKey }, first), [200, 401]],
      [() => configure(bot, {}, first), [200, 200]],
      [() => first.ask('DELETE', `/v1/admin/bots/${bot.id}`, {}), [404, 404]],
    ] as const) {
      await answers(there)
      await change()
      expect(await answers(bot.chatUrl)).toEqual(expected)
      // Well before what the second process remembers is too old.
      await expect.poll(() => answers(there), { timeout: 2000, interval: 20 }).toEqual(expected)
    }
  })
})

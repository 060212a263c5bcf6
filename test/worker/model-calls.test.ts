import { dispatch } from '#shared/dispatch.ts'
import { claimNextEvents } from '#shared/store/mailboxes.ts'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { createChatUser } from '../support/chat-client.ts'
import { answerWith, complete, startEndpoint, type ScriptedEndpoint } from '../support/models.ts'
import { endedEvents, replies } from '../support/outcomes.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { Processes } from '../support/processes.ts'
import { startTarget } from './outbound/fixture.ts'

const processes = new Processes()
let endpoint: ScriptedEndpoint
let platform: Platform
beforeAll(async () => {
  endpoint = await startEndpoint()
  platform = await openPlatform({ worker: false, environment: endpoint.environment })
})
afterEach(() => processes.stop())
afterAll(async () => {
  await platform[Symbol.asyncDispose]()
  await endpoint[Symbol.asyncDispose]()
})

/** Asks three questions at once, two of them the same, in any order; then takes its time. */
const asker = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const ask = async (text) => [text, (await client.generateText({ messages: [{ role: 'user', content: text }] })).output]
      const questions = ['one', 'two', 'two'].sort(() => Math.random() - 0.5)
      const answers = await Promise.all(questions.map(ask))
      const text = answers.map((pair) => pair.join(': ')).sort().join(', ')
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
      await new Promise((resolve) => setTimeout(resolve, 2000))
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
    },
  }`

test(
  'a worker killed after the answers of models: another one gets the same answers, each for its question, and asks no model',
  { timeout: 90_000 },
  async () => {
    let answers = 0
    endpoint.script = (response) => complete(response, { content: `answer ${++answers}` })
    const victim = await processes.start(platform, 'worker')
    const bot = await platform.createBot(asker)
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    await chatUser.send(conversationId, 'hello')
    const patience = { timeout: 30_000, interval: 20 }
    await vi.waitFor(async () => expect(await replies(platform, conversationId)).toHaveLength(1), patience)
    process.kill(victim.pid, 'SIGKILL')
    await processes.start(platform, 'worker')
    await vi.waitFor(async () => expect(await replies(platform, conversationId)).toHaveLength(2), {
      timeout: 50_000,
    })
    const [first, second] = await replies(platform, conversationId)
    expect(second).toBe(first)
    expect(endpoint.requests).toHaveLength(3)
    const [event] = await endedEvents(platform, bot.id, 1)
    expect(event).toMatchObject({ status: 'processed', attempt: 2 })
  },
)

test('a call that is repeated while it is in flight, as after an outage of the database, is made once', async () => {
  const answers: (() => void)[] = []
  endpoint.requests.length = 0
  endpoint.script = (response) => void answers.push(() => complete(response, { content: 'the answer' }))
  const bot = await platform.createBot()
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, 'hello')
  const [event] = await claimNextEvents(platform.context.db, [conversationId])
  const call = { operation: 'generateText#hash', ordinal: 1 }
  const ask = () =>
    dispatch(platform.context, {
      method: 'POST',
      path: '/v2/cognitive/generate-text',
      body: async () => ({ messages: [{ role: 'user', content: 'hi' }] }),
      identify: () => ({
        kind: 'bot',
        botId: bot.id,
        execution: {
          eventId: event!.id,
          attempt: event!.attempt,
          call,
          openStreams: new Map(),
          callAction: async () => ({}),
        },
      }),
    })
  const first = ask()
  await expect.poll(() => answers).toHaveLength(1)
  const second = ask()
  answers[0]!()
  const replies = await Promise.all([first, second])
  expect(replies.map(({ status }) => status)).toEqual([200, 200])
  expect(replies[0].body).toEqual(replies[1].body)
  expect(endpoint.requests).toHaveLength(1)
})

/** Has a picture made of what the user says. */
const painter = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const { output } = await client.generateImage({ prompt: event.preview })
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: output.imageUrl } })
      await new Promise((resolve) => setTimeout(resolve, 2000))
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: output.imageUrl } })
    },
  }`

test(
  'a picture is made once: a worker is killed afterwards, and the next one gets the same file',
  { timeout: 90_000 },
  async () => {
    const data = [{ b64_json: Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64') }]
    endpoint.requests.length = 0
    endpoint.script = (response) => answerWith(response, 200, JSON.stringify({ data }))
    const environment = { MODELS_IMAGE: 'local:small' }
    const victim = await processes.start(platform, 'worker', environment)
    const bot = await platform.createBot(painter)
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    await chatUser.send(conversationId, 'a lamp')
    const patience = { timeout: 30_000, interval: 20 }
    await vi.waitFor(async () => expect(await replies(platform, conversationId)).toHaveLength(1), patience)
    process.kill(victim.pid, 'SIGKILL')
    await processes.start(platform, 'worker', environment)
    await vi.waitFor(async () => expect(await replies(platform, conversationId)).toHaveLength(2), {
      timeout: 50_000,
    })
    const [first, second] = await replies(platform, conversationId)
    expect(second).toBe(first)
    expect((await fetch(first!)).headers.get('content-type')).toBe('image/png')
    expect(endpoint.requests).toHaveLength(1)
    const { files } = (await platform.ask('GET', '/v1/files', undefined, { 'x-bot-id': bot.id })).body
    expect(files).toHaveLength(1)
  },
)

/** Transcribes what the user names. */
const listener = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const { output } = await client.transcribeAudio({ url: event.preview })
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: output } })
      await new Promise((resolve) => setTimeout(resolve, 2000))
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: output } })
    },
  }`

test(
  'audio at an address on a granted host is transcribed, and a worker killed afterwards does not pay for it again',
  { timeout: 90_000 },
  async () => {
    await using files = await startTarget((_request, response) => {
      response.writeHead(200, { 'content-type': 'audio/ogg; codecs=opus' }).end('audio')
    })
    let answers = 0
    endpoint.requests.length = 0
    endpoint.script = (response) => answerWith(response, 200, JSON.stringify({ text: `words ${++answers}` }))
    const environment = { OUTBOUND_ALLOW_PRIVATE: '127.0.0.1', MODELS_TRANSCRIPTION: 'local:small' }
    const victim = await processes.start(platform, 'worker', environment)
    const bot = await platform.createBot(listener)
    await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { permissions: { net: [`127.0.0.1:${files.port}`] } })
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    await chatUser.send(conversationId, `${files.url}/voice.ogg`)
    const patience = { timeout: 30_000, interval: 20 }
    await vi.waitFor(async () => expect(await replies(platform, conversationId)).toHaveLength(1), patience)
    process.kill(victim.pid, 'SIGKILL')
    await processes.start(platform, 'worker', environment)
    await vi.waitFor(async () => expect(await replies(platform, conversationId)).toHaveLength(2), {
      timeout: 50_000,
    })
    expect(await replies(platform, conversationId)).toEqual(['words 1', 'words 1'])
    expect(endpoint.requests.map(({ body }) => [body.file.type, body.file.size])).toEqual([['audio/ogg', 5]])
  },
)

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { platformUrl } from '#sandbox/protocol/contract.ts'
import { createChatUser } from '../../support/chat-client.ts'
import { answerWith, complete, ScriptedStream, startEndpoint, type ScriptedEndpoint } from '../../support/models.ts'
import { endedEvents, replies } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { Processes } from '../../support/processes.ts'
import { bundleModelBot } from '../outbound/models/bundle-model-bot.ts'

let endpoint: ScriptedEndpoint
let platform: Platform
const parts = new AsyncDisposableStack()
beforeAll(async () => {
  endpoint = parts.use(await startEndpoint())
  // The bots name a model of their provider.
  const environment = { ...endpoint.environment, MODELS_SUBSTITUTE: 'local:large' }
  platform = parts.use(await openPlatform({ environment }))
})
afterAll(() => parts.disposeAsync())

/** Has a user say something to a bot without grants of hosts, and returns the conversation. */
async function talkTo(platform: Platform, name: string, providerUrl: string) {
  const limits = { cpuMilliseconds: 10_000, loadMilliseconds: 10_000 }
  const bot = await platform.createBot(await bundleModelBot(name, { providerUrl }), { limits })
  const user = await createChatUser(bot.chatUrl)
  const conversationId = await user.createConversation()
  await user.send(conversationId, 'Tell me something')
  return { botId: bot.id, conversationId }
}

test.each([
  ['openai', `${platformUrl}/v2/cognitive/openai`],
  ['anthropic', `${platformUrl}/v2/cognitive/anthropic`],
])('a bot with the library of %s streams from the models of the platform', async (name, providerUrl) => {
  endpoint.requests.length = 0
  endpoint.script = (response) => {
    const words = new ScriptedStream(response)
    for (const word of ['Once ', 'upon ', 'a ', 'time']) words.write(word)
    words.end()
  }
  const { botId, conversationId } = await talkTo(platform, name, providerUrl)
  await expect.poll(() => replies(platform, conversationId)).toEqual(['Once upon a time'])
  const [event] = await endedEvents(platform, botId, 1)
  expect(event).toMatchObject({ status: 'processed' })
  expect(endpoint.requests.map(({ body }) => [body.model, body.stream])).toEqual([['large', true]])
  const { body } = await platform.ask('GET', `/v1/admin/bots/${botId}/events/${event!.id}`)
  expect(JSON.stringify(body)).toContain('local:large')
})

test('a bot with the library of openai sends audio in a form', async () => {
  endpoint.requests.length = 0
  endpoint.script = (response) => answerWith(response, 200, JSON.stringify({ text: 'Good morning.', duration: 2 }))
  const { conversationId } = await talkTo(platform, 'openai-transcription', `${platformUrl}/v2/cognitive/openai`)
  await expect.poll(() => replies(platform, conversationId)).toEqual(['Good morning. Good morning.'])
  const [{ path, body }] = endpoint.requests as [(typeof endpoint.requests)[0]]
  expect([path, body.model, body.language, body.file.type]).toEqual([
    '/v1/audio/transcriptions',
    'small',
    'en',
    'audio/mpeg',
  ])
  expect(await body.file.text()).toBe('Tell me something')
})

/** Kills the worker after the first reply of a bot, and returns both replies, of the first run and of the repeated one. */
async function repliesAcrossKill(name: string): Promise<string[]> {
  const processes = new Processes()
  onTestFinished(() => processes.stop())
  const environment = { ...endpoint.environment, MODELS_SPEECH: 'local:small' }
  await using own = await openPlatform({ worker: false, environment })
  const victim = await processes.start(own, 'worker')
  const { botId, conversationId } = await talkTo(own, name, `${platformUrl}/v2/cognitive/openai`)
  const patience = { timeout: 30_000, interval: 20 }
  await expect.poll(() => replies(own, conversationId), patience).toHaveLength(1)
  process.kill(victim.pid, 'SIGKILL')
  await processes.start(own, 'worker')
  await expect.poll(() => replies(own, conversationId), { timeout: 50_000 }).toHaveLength(2)
  const [event] = await endedEvents(own, botId, 1)
  expect(event).toMatchObject({ status: 'processed', attempt: 2 })
  return replies(own, conversationId)
}

test(
  'calls of a library are recorded: a worker is killed after them, and the next one gets the same answers',
  { timeout: 90_000 },
  async () => {
    endpoint.requests.length = 0
    endpoint.script = (response, { body }) =>
      body.messages.length === 1
        ? complete(response, {
            tool_calls: [{ id: 'call1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
          })
        : complete(response, { content: `It is ${body.messages.at(-1).content}` })
    const [first, second] = await repliesAcrossKill('openai-tools')
    expect(first).toMatch(/: It is rain$/)
    expect(second).toBe(first)
    expect(endpoint.requests).toHaveLength(2)
  },
)

test(
  'pictures and speech of a library are recorded: a worker is killed after them, and the next one gets the same bytes',
  { timeout: 90_000 },
  async () => {
    const png = Buffer.from('\x89PNG\r\n\x1a\n a picture', 'latin1')
    // Of more than one part, and no UTF-8.
    const audio = Buffer.alloc(300_000, 0xff)
    audio[audio.length - 1] = 7
    endpoint.requests.length = 0
    endpoint.script = (response, { path }) =>
      path.endsWith('/speech')
        ? void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(audio)
        : answerWith(response, 200, JSON.stringify({ data: [{ b64_json: png.toString('base64') }] }))
    const [first, second] = await repliesAcrossKill('openai-media')
    const facts = `${png.toString('base64')}, audio/mpeg of 300000 bytes, 255 to 7, `
    expect(first!.slice(0, facts.length)).toBe(facts)
    expect(first!.slice(facts.length)).toMatch(/^http.*\.mp3$/)
    expect(second).toBe(first)
    const paths = endpoint.requests.map(({ path }) => path)
    expect(paths).toEqual(['/v1/images/generations', '/v1/audio/speech', '/v1/audio/speech'])
  },
)

import { createOpenAI } from '@ai-sdk/openai'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { answerWith, startEndpoint, type ScriptedEndpoint } from '../../../support/models.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../../support/platform.ts'

const png = Buffer.from('\x89PNG\r\n\x1a\n a picture', 'latin1')
const audio = Buffer.from('\xff\xf3 audio that is no UTF-8 \xff', 'latin1')

let endpoint: ScriptedEndpoint
let platform: Platform
let bot: DeployedBot
let openai: OpenAI
const parts = new AsyncDisposableStack()
beforeAll(async () => {
  endpoint = parts.use(await startEndpoint())
  const environment = { ...endpoint.environment, MODELS_IMAGE: 'local:small', MODELS_SPEECH: 'local:small' }
  platform = parts.use(await openPlatform({ worker: false, environment }))
  bot = await platform.createBot()
  openai = libraryOf(bot.id)
})
beforeEach(() => {
  endpoint.requests.length = 0
  endpoint.script = (response, { path }) =>
    path.endsWith('/speech')
      ? void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(audio)
      : answerWith(response, 200, JSON.stringify({ data: [{ b64_json: png.toString('base64') }], usage }))
})
afterAll(() => parts.disposeAsync())

const usage = { input_tokens: 7, output_tokens: 300, total_tokens: 307 }
const libraryOf = (botId: string) =>
  new OpenAI({
    apiKey: platform.token,
    baseURL: `${platform.url}/v2/cognitive/openai/v1`,
    defaultHeaders: { 'x-bot-id': botId },
    maxRetries: 0,
  })
const speak = (fields: object, { library = openai, ...options }: { library?: OpenAI; headers?: object } = {}) =>
  library.audio.speech.create({ model: 'local:small', input: 'Hi', voice: 'nova', ...fields }, options as object)
const sdk = () => createOpenAI({ apiKey: platform.token, baseURL: openai.baseURL, headers: { 'x-bot-id': bot.id } })
const asked = () => endpoint.requests.map(({ path, body }) => ({ path, body }))
const filesOf = (botId: string) =>
  platform.context.db('files').where({ bot_id: botId }).select('key', 'expires_at', 'tags')

describe('the library of OpenAI makes pictures', () => {
  test('that are in the answer, with their usage', async () => {
    const answer = await openai.images.generate({
      model: 'local:small',
      prompt: 'a lamp',
      n: 1,
      size: '1024x1024',
      quality: 'hd',
      user: 'ann',
    })
    expect(answer).toMatchObject({
      created: expect.any(Number),
      data: [{ b64_json: png.toString('base64') }],
      output_format: 'png',
      size: '1024x1024',
      usage: { input_tokens: 7, output_tokens: 300, total_tokens: 307 },
    })
    expect(asked()).toEqual([
      {
        path: '/v1/images/generations',
        body: {
          model: 'small',
          prompt: 'a lamp',
          n: 1,
          size: '1024x1024',
          quality: 'high',
          response_format: 'b64_json',
        },
      },
    ])
    const { body } = await platform.ask('GET', `/v1/admin/models/usage?botId=${bot.id}`)
    expect(body.usage).toContainEqual(expect.objectContaining({ model: 'local:small', inputTokens: 7, calls: 1 }))
  })

  test('at an address, for longer', async () => {
    const other = await platform.createBot()
    const { data } = await libraryOf(other.id).images.generate({
      prompt: 'a lamp',
      response_format: 'url',
      size: 'auto',
    })
    const seen = await fetch(data![0]!.url!)
    expect([seen.headers.get('content-type'), Buffer.from(await seen.arrayBuffer())]).toEqual(['image/png', png])
    await libraryOf(other.id).images.generate({ prompt: 'a lamp' })
    const days = (await filesOf(other.id)).map((file) => (Number(file.expires_at) - Date.now()) / (24 * 3600 * 1000))
    expect(days.map(Math.round).toSorted((a, b) => a - b)).toEqual([1, 30])
  })

  test('by the AI SDK too', async () => {
    const call = { prompt: 'a lamp', n: 1, size: '1024x1024', providerOptions: {} } as const
    const given = { ...call, aspectRatio: undefined, seed: undefined, files: undefined, mask: undefined }
    const { images } = await sdk().image('auto').doGenerate(given)
    expect(images).toEqual([png.toString('base64')])
  })

  test.each([
    ['several at once', { n: 2 }, 'n must be'],
    ['streamed ones', { stream: true }, 'stream must be'],
    ['of a size that is none', { size: 'large' }, 'size must match'],
  ])('but not %s', async (_what, fields, message) => {
    const refused = openai.images.generate({ prompt: 'a lamp', ...(fields as object) })
    await expect(refused).rejects.toThrow(message)
    await expect(refused).rejects.toMatchObject({ status: 400, type: 'InvalidPayload' })
    expect(asked()).toEqual([])
  })
})

describe('the library of OpenAI has a text spoken', () => {
  test('and gets the bytes of the audio, with its type', async () => {
    const response = await openai.audio.speech.create({
      model: 'local:small',
      input: 'Good morning',
      voice: 'nova',
      response_format: 'flac',
      speed: 1.5,
      instructions: 'softly',
    })
    expect(response.headers.get('content-type')).toBe('audio/flac')
    expect(response.headers.get('content-length')).toBe(String(audio.length))
    expect(Buffer.from(await response.arrayBuffer())).toEqual(audio)
    expect(asked()).toEqual([
      {
        path: '/v1/audio/speech',
        body: {
          model: 'small',
          input: 'Good morning',
          voice: 'nova',
          response_format: 'flac',
          speed: 1.5,
          instructions: 'softly',
        },
      },
    ])
  })

  test('by the AI SDK too', async () => {
    const { audio: heard } = await sdk().speech('auto').doGenerate({ text: 'Good morning', voice: 'nova' })
    expect(Buffer.from(heard as Uint8Array)).toEqual(audio)
  })

  test('once for an idempotency key', async () => {
    const given = { voice: { id: 'nova' } }
    const headers = { 'idempotency-key': 'speech-1' }
    const [first, second] = [await speak(given, { headers }), await speak(given, { headers })]
    expect([first.headers.get('idempotent-replayed'), second.headers.get('idempotent-replayed')]).toEqual([
      null,
      'true',
    ])
    expect(Buffer.from(await second.arrayBuffer())).toEqual(audio)
    expect(asked()).toHaveLength(1)
  })

  test('and learns why there is none', async () => {
    await expect(speak({ input: 'x'.repeat(4097) })).rejects.toThrow('input must NOT have more than 4096')
    await expect(speak({ stream_format: 'sse' })).rejects.toThrow('stream_format must be')
    await expect(speak({ model: 'tts-1' })).rejects.toMatchObject({ status: 400, code: 'UNKNOWN_MODEL' })
    const poor = await platform.createBot()
    const budget = { botId: poor.id, budget: { dayTokens: 0 } }
    expect((await platform.ask('PUT', '/v1/admin/models/budget', budget)).status).toBe(200)
    const exceeded = { status: 402, code: 'MODEL_BUDGET_EXCEEDED' }
    await expect(speak({}, { library: libraryOf(poor.id) })).rejects.toMatchObject(exceeded)
    await expect(libraryOf(poor.id).images.generate({ prompt: 'a lamp' })).rejects.toMatchObject(exceeded)
    expect(asked()).toEqual([])
    endpoint.script = (response) => answerWith(response, 401, JSON.stringify({ error: { message: 'no' } }))
    await expect(speak({})).rejects.toMatchObject({ status: 400, code: 'UPSTREAM_PROVIDER_FAILED' })
  })
})

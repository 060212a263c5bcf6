import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Client } from '@botpress/client'
import { CognitiveBeta } from '@botpress/cognitive'
import { openEntryPoints, type BotWithEntryPoints } from '../../../support/entry-points.ts'
import {
  answerWith,
  endpointKey,
  keys,
  startEndpoint,
  startProviders,
  type ScriptedEndpoint,
  type SimulatedProviders,
} from '../../../support/models.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'

let providers: SimulatedProviders
let endpoint: ScriptedEndpoint
let google: ScriptedEndpoint
let platform: Platform
let bot: BotWithEntryPoints
const parts = new AsyncDisposableStack()
beforeAll(async () => {
  providers = parts.use(await startProviders())
  endpoint = parts.use(await startEndpoint())
  google = parts.use(await startEndpoint())
  platform = parts.use(
    await openPlatform({
      environment: {
        ...providers.environment,
        ...endpoint.environment,
        GOOGLE_GENERATIVE_AI_BASE_URL: `${google.url}/v1beta`,
        MODELS_TRANSCRIPTION: 'local:small,openai:whisper-1',
        MODELS_SUBSTITUTE: 'auto',
        MODELS_SECONDS: '5',
      },
    }),
  )
  bot = await openEntryPoints(platform)
})
beforeEach(() => {
  endpoint.requests.length = 0
  endpoint.script = (response) => answerWith(response, 200, JSON.stringify({ text: 'Hello there.', duration: 90 }))
  providers.mock.reset()
})
afterAll(() => parts.disposeAsync())

const path = '/v2/cognitive/transcribe-audio'
const audio = Buffer.from([0x49, 0x44, 0x33, 0, 0xff, 0xfb, 0x90, 0])
const url = `data:audio/mpeg;base64,${audio.toString('base64')}`
const callAction = (type: string, input: object) =>
  bot.entryPoints.fromSandbox('POST', '/v1/chat/actions', { type, input })
const transcribe = (input: object) => bot.entryPoints.overHttp('POST', path, input)

describe.each(['overHttp', 'fromSandbox'] as const)('%s', (entryPoint) => {
  test('a model transcribes an audio file, with its duration and usage', async () => {
    const { status, body } = await bot.entryPoints[entryPoint]('POST', path, { url })
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        output: 'Hello there.',
        metadata: {
          provider: 'local',
          model: 'local:small',
          durationSeconds: 90,
          usage: { inputTokens: 900, inputCost: 0, outputTokens: 3, outputCost: 0 },
          cost: 0,
          cached: false,
          latency: expect.any(Number),
          fallbackPath: [],
        },
      },
    })
    const [{ path: asked, headers, body: form }] = endpoint.requests as [(typeof endpoint.requests)[0]]
    expect([asked, headers.authorization, form.model]).toEqual([
      '/v1/audio/transcriptions',
      `Bearer ${endpointKey}`,
      'small',
    ])
    expect(form.file).toMatchObject({ name: 'audio.mp3', type: 'audio/mpeg' })
    expect(Buffer.from(await form.file.arrayBuffer())).toEqual(audio)
  })

  test('the audio of a file of the bot is read at its address', async () => {
    const client = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.botId })
    const { file } = await client.uploadFile({ key: 'voice.ogg', content: audio, contentType: 'audio/ogg' })
    const { status } = await bot.entryPoints[entryPoint]('POST', path, { url: (await client.getFile(file)).file.url })
    expect(status).toBe(200)
    expect(endpoint.requests[0]!.body.file).toMatchObject({ size: audio.length, type: 'audio/ogg' })
  })
})

test('the published client transcribes, and gets the reason of a failure', async () => {
  const client = new CognitiveBeta({ apiUrl: platform.url, token: platform.token, botId: bot.botId })
  const { output, metadata } = await client.transcribeAudio({ url, model: ['groq:whisper-large-v3', 'auto'] })
  expect([output, metadata.model, metadata.durationSeconds]).toEqual(['Hello there.', 'local:small', 90])
  await expect(client.transcribeAudio({ url: 'ftp://example.com/a.mp3' })).rejects.toMatchObject({
    response: { status: 400, data: { type: 'InvalidPayload' } },
  })
})

test('a hosted model costs its price for a minute, and answers when the first one fails', async () => {
  endpoint.script = (response) => answerWith(response, 500, '{}')
  providers.mock.onTranscription({ transcription: { text: 'From the other.', duration: 30 } })
  const { body } = await transcribe({ url })
  expect(body).toMatchObject({
    output: 'From the other.',
    metadata: { model: 'openai:whisper-1', durationSeconds: 30 },
  })
  expect(body.metadata.fallbackPath).toEqual(['local:small'])
  expect(body.metadata.cost).toBeCloseTo(0.003, 10)
  const { usage } = (await platform.ask('GET', `/v1/admin/models/usage?botId=${bot.botId}`)).body
  expect(usage).toContainEqual(expect.objectContaining({ model: 'openai:whisper-1', calls: 1, inputTokens: 300 }))
})

test('a model of Google transcribes too, at the price of the dearest that is known', async () => {
  const steps = [{ type: 'model_output', content: [{ type: 'text', text: 'Buongiorno.' }] }]
  google.script = (response) => answerWith(response, 200, JSON.stringify({ id: 'i', status: 'completed', steps }))
  const { body } = await transcribe({ url, model: 'google-ai:gemini-3.5-transcribe' })
  expect(body).toMatchObject({ output: 'Buongiorno.', metadata: { provider: 'google-ai', durationSeconds: 1 } })
  expect(body.metadata.cost).toBeCloseTo(0.006 / 60, 10)
  const [input] = google.requests[0]!.body.input
  expect(input).toEqual({ type: 'audio', data: audio.toString('base64'), mime_type: 'audio/mpeg' })
})

test('reported tokens are those of the provider, and the duration follows from them', async () => {
  const usage = { type: 'tokens', input_tokens: 125, output_tokens: 7, input_token_details: { audio_tokens: 120 } }
  endpoint.script = (response) => answerWith(response, 200, JSON.stringify({ text: 'Hi', usage }))
  const { metadata } = (await transcribe({ url })).body
  expect(metadata).toMatchObject({ durationSeconds: 12, usage: { inputTokens: 125, outputTokens: 7 } })
})

test.each([
  ['text', 'data:audio/mpeg;base64,no!'],
  ['a page', 'data:text/html;base64,AAAA'],
  ['nothing', 'data:audio/mpeg;base64,'],
  ['a file of the machine', 'file:///etc/passwd'],
  ['an address that only the code of a bot may request', 'https://example.com/a.mp3'],
  ['an address of the network of the platform', 'http://169.254.169.254/latest'],
  ['a header in the media type', 'data:audio/mpeg%0d%0ax: y;base64,AAAA'],
])('is refused with %s', async (_what, given) => {
  const { status, body } = await transcribe({ url: given })
  expect({ status, type: body.type }).toEqual({ status: 400, type: 'InvalidPayload' })
  expect(endpoint.requests).toEqual([])
})

test('another address of the platform is no audio, and neither is an unknown file', async () => {
  expect((await transcribe({ url: `${platform.url}/v1/chat/users` })).status).toBe(400)
  expect((await transcribe({ url: `${platform.url}/files/unknown/a.mp3` })).status).toBe(404)
  expect((await transcribe({ url: `${platform.url}/files/%ff/a.mp3` })).status).toBe(400)
})

test('audio of more than 25 MB is refused before it is read', { timeout: 60_000 }, async () => {
  const client = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.botId })
  const content = Buffer.alloc(25 * 1024 * 1024 + 1)
  const { file } = await client.uploadFile({ key: 'long.wav', content, contentType: 'audio/wav' })
  const { status, body } = await transcribe({ url: file.url })
  expect({ status, type: body.type }).toEqual({ status: 413, type: 'LimitExceeded' })
  expect(endpoint.requests).toEqual([])
})

test('the address is requested by the rules of the requests of the code: a host without a grant is refused', async () => {
  const { status, body } = await bot.entryPoints.fromSandbox('POST', path, { url: 'https://example.com/a.mp3' })
  expect({ status, metadata: body.metadata }).toEqual({ status: 400, metadata: { subtype: 'NOT_FETCHED' } })
  expect(body.message).toContain('permissions.net')
})

test('a budget that is used up refuses the call before anything is sent', async () => {
  const { id } = await platform.createBot()
  await platform.ask('PUT', '/v1/admin/models/budget', { budget: { dayTokens: 100 }, botId: id })
  const ask = () => platform.ask('POST', path, { url }, { 'x-bot-id': id })
  expect((await ask()).status).toBe(200)
  const { status, body } = await ask()
  expect({ status, subtype: body.metadata.subtype }).toEqual({ status: 402, subtype: 'MODEL_BUDGET_EXCEEDED' })
  expect(endpoint.requests).toHaveLength(1)
})

test('a failure of the provider is named, without its key', async () => {
  endpoint.script = (response) => answerWith(response, 401, JSON.stringify({ error: { message: endpointKey } }))
  providers.mock.nextRequestError(401, { message: `Incorrect API key provided: ${keys.openai}` })
  const { status, body } = await transcribe({ url })
  expect({ status, type: body.type }).toEqual({ status: 400, type: 'Runtime' })
  expect(body.metadata).toMatchObject({ subtype: 'UPSTREAM_PROVIDER_FAILED' })
  expect(JSON.stringify(body)).not.toMatch(/Incorrect|0123456789|key-of-the-endpoint/)
})

test('the action of the public interface transcribes too, with all text in segments, and lists the models', async () => {
  const input = { fileUrl: url, model: { id: 'small' }, language: 'en', temperature: 0 }
  const { status, body } = await callAction('local:transcribeAudio', input)
  expect({ status, output: body.output }).toMatchObject({
    status: 200,
    output: { model: 'small', duration: 90, segments: [{ id: 0, start: 0, end: 90, text: 'Hello there.' }], cost: 0 },
  })
  expect(endpoint.requests[0]!.body).toMatchObject({
    language: 'en',
    temperature: '0',
    response_format: 'verbose_json',
  })
  expect((await callAction('openai:transcribeAudio', { fileUrl: 7 })).body.message).toContain('openai:transcribeAudio')
  const { models } = (await callAction('openai:listSpeechToTextModels', {})).body.output
  expect(models).toContainEqual({ id: 'whisper-1', name: 'whisper-1', costPerMinute: 0.006 })
})

test('models of OpenAI without times are not asked for subtitles', async () => {
  const body = new FormData()
  for (const [name, value] of Object.entries({ model: 'gpt-4o-transcribe', response_format: 'srt' }))
    body.set(name, value)
  body.set('file', new File([audio], 'a.mp3'))
  const headers = { authorization: `Bearer ${platform.token}`, 'x-bot-id': bot.botId }
  const refused = await fetch(`${platform.url}/v2/cognitive/openai/v1/audio/transcriptions`, {
    method: 'POST',
    headers,
    body,
  })
  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({
    message: expect.stringContaining('openai:gpt-4o-transcribe gives no times'),
    error: { type: 'InvalidPayload' },
  })
  expect(providers.mock.getRequests()).toEqual([])
})

test('lists the models that transcribe, apart from those of texts', async () => {
  const { models } = (await bot.entryPoints.overHttp('GET', '/v2/cognitive/models')).body
  const whisper = models.find(({ id }: { id: string }) => id === 'openai:whisper-1')
  expect(whisper).toMatchObject({ tags: ['speech-to-text'], input: { costPerMinute: 0.006 } })
  expect(whisper.capabilities.supportsTranscription).toBe(true)
  const type = 'openai:listLanguageModels'
  const listed = (await bot.entryPoints.overHttp('POST', '/v1/chat/actions', { type, input: {} })).body.output.models
  expect(listed.map(({ id }: { id: string }) => id)).not.toContain('whisper-1')
})

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Client } from '@botpress/client'
import { createChatUser } from '../../../support/chat-client.ts'
import { openEntryPoints, type BotWithEntryPoints } from '../../../support/entry-points.ts'
import { answerWith, endpointKey, keys, startEndpoint, type ScriptedEndpoint } from '../../../support/models.ts'
import { endedEvents, replies } from '../../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'
import { megabyte } from '#shared/units.ts'

let endpoint: ScriptedEndpoint
let openai: ScriptedEndpoint
let google: ScriptedEndpoint
let platform: Platform
let bot: BotWithEntryPoints
const parts = new AsyncDisposableStack()
beforeAll(async () => {
  endpoint = parts.use(await startEndpoint())
  openai = parts.use(await startEndpoint())
  google = parts.use(await startEndpoint())
  platform = parts.use(
    await openPlatform({
      environment: {
        ...endpoint.environment,
        OPENAI_API_KEY: keys.openai,
        OPENAI_BASE_URL: `${openai.url}/v1`,
        GOOGLE_GENERATIVE_AI_API_KEY: keys.google,
        GOOGLE_GENERATIVE_AI_BASE_URL: `${google.url}/v1beta`,
        MODELS_IMAGE: 'local:small,openai:gpt-image-1-mini',
        MODELS_SPEECH: 'local:small,openai:tts-1',
        BOT_FILES: '20',
        MODELS_SECONDS: '5',
      },
    }),
  )
  bot = await openEntryPoints(platform)
})
beforeEach(() => {
  for (const each of [endpoint, openai, google]) each.requests.length = 0
  endpoint.script = (response, { path }) =>
    path.endsWith('/speech')
      ? void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(audio)
      : draw(response)
})
afterAll(() => parts.disposeAsync())

const png = Buffer.from('\x89PNG\r\n\x1a\n a picture', 'latin1')
const audio = Buffer.from('ID3 audio')
const draw = (response: Parameters<typeof answerWith>[0], more: object = {}) =>
  answerWith(response, 200, JSON.stringify({ created: 1, data: [{ b64_json: png.toString('base64') }], ...more }))
/** An answer of Google with one medium. */
const inline = (mimeType: string, data: Buffer) => ({
  candidates: [
    { content: { parts: [{ inlineData: { mimeType, data: data.toString('base64') } }] }, finishReason: 'STOP' },
  ],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1290, totalTokenCount: 1295 },
})
const imagePath = '/v2/cognitive/generate-image'
const audioPath = '/v2/cognitive/generate-audio'
const paint = (input: object) => bot.entryPoints.overHttp('POST', imagePath, { prompt: 'a lamp', ...input })
const callAction = (type: string, input: object) =>
  bot.entryPoints.overHttp('POST', '/v1/chat/actions', { type, input })
const speak = (input: object) => bot.entryPoints.overHttp('POST', audioPath, { input: 'Hello', ...input })

describe.each(['overHttp', 'fromSandbox'] as const)('%s', (entryPoint) => {
  test('a model makes a picture, which everybody sees at its address until it expires', async () => {
    const input = { prompt: 'a lamp', size: '1024x1024', options: { expirationDays: 2 } }
    const { status, body } = await bot.entryPoints[entryPoint]('POST', imagePath, input)
    expect({ status, metadata: body.metadata }).toEqual({
      status: 200,
      metadata: {
        provider: 'local',
        model: 'local:small',
        size: '1024x1024',
        format: 'png',
        quality: 'auto',
        fileId: expect.stringMatching(/^file_/),
        usage: { inputTokens: 2, inputCost: 0, outputTokens: 4160, outputCost: 0 },
        cost: 0,
        cached: false,
        latency: expect.any(Number),
        fallbackPath: [],
      },
    })
    const { path, headers, body: asked } = endpoint.requests[0]!
    expect([path, headers.authorization]).toEqual(['/v1/images/generations', `Bearer ${endpointKey}`])
    expect(asked).toEqual({ model: 'small', prompt: 'a lamp', n: 1, size: '1024x1024', response_format: 'b64_json' })
    const seen = await fetch(body.output.imageUrl)
    expect([seen.status, seen.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(Buffer.from(await seen.arrayBuffer())).toEqual(png)
    const client = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.botId })
    const { file } = await client.getFile({ id: body.metadata.fileId })
    const days = (Date.parse(file.expiresAt!) - Date.now()) / (24 * 3600 * 1000)
    expect(days).toBeGreaterThan(1.9)
    expect(days).toBeLessThan(2)
    expect(file.tags).toEqual({ source: 'model', model: 'local:small' })
  })

  test('a model speaks a text', async () => {
    const input = { input: 'Good morning', voice: 'nova', speed: 1.5, instructions: 'softly' }
    const { status, body } = await bot.entryPoints[entryPoint]('POST', audioPath, input)
    expect({ status, metadata: body.metadata }).toMatchObject({
      status: 200,
      metadata: { model: 'local:small', voice: 'nova', format: 'mp3', characterCount: 12 },
    })
    expect(endpoint.requests[0]).toMatchObject({
      path: '/v1/audio/speech',
      body: { model: 'small', input: 'Good morning', voice: 'nova', response_format: 'mp3', speed: 1.5 },
    })
    const heard = await fetch(body.output.audioUrl)
    expect(heard.headers.get('content-type')).toBe('audio/mpeg')
    expect(Buffer.from(await heard.arrayBuffer())).toEqual(audio)
  })
})

test('a hosted picture costs by the quality and the size that the provider reports, and answers when the first one fails', async () => {
  endpoint.script = (response) => answerWith(response, 200, JSON.stringify({ data: [{ b64_json: 'PGh0bWw+' }] }))
  const usage = { input_tokens: 11, output_tokens: 272, total_tokens: 283 }
  openai.script = (response) => draw(response, { size: '1536x1024', quality: 'low', output_format: 'png', usage })
  const { body } = await paint({ size: '16:9', quality: 'auto', format: 'png' })
  expect(openai.requests[0]!.body).toEqual({
    model: 'gpt-image-1-mini',
    prompt: 'a lamp',
    n: 1,
    size: '1536x1024',
    quality: 'auto',
    output_format: 'png',
  })
  expect(body.metadata).toMatchObject({
    model: 'openai:gpt-image-1-mini',
    size: '1536x1024',
    quality: 'low',
    fallbackPath: ['local:small'],
    usage: { inputTokens: 11, outputTokens: 272 },
  })
  expect(body.metadata.cost).toBeCloseTo(0.006, 10)
  const { usage: counted } = (await platform.ask('GET', `/v1/admin/models/usage?botId=${bot.botId}`)).body
  expect(counted).toContainEqual(
    expect.objectContaining({ model: 'openai:gpt-image-1-mini', calls: 1, inputTokens: 11 }),
  )
})

test.each([
  ['of a shape that is not known costs as the dearer one', { model: 'openai:gpt-image-2' }, 0.211],
  ['costs by its shape', { model: 'openai:gpt-image-2', size: '1536x1024' }, 0.165],
  ['of a model that is not known costs as the dearest', { model: 'openai:gpt-image-9', size: '1024x1024' }, 0.211],
])('a picture %s', async (_what, input, cost) => {
  openai.script = (response) => draw(response)
  expect((await paint({ quality: 'high', ...input })).body.metadata.cost).toBeCloseTo(cost, 10)
})

test('speech costs by its characters, and a model that is not known as the dearest', async () => {
  openai.script = (response) => void response.writeHead(200, { 'content-type': 'audio/wav' }).end(audio)
  const known = (await speak({ input: 'x'.repeat(1000), model: 'openai:tts-1', format: 'wav' })).body.metadata
  expect(known).toMatchObject({ voice: 'alloy', format: 'wav', usage: { inputTokens: 250, outputTokens: 1667 } })
  expect(known.cost).toBeCloseTo(0.015, 10)
  const unknown = (await speak({ input: 'x'.repeat(1000), model: 'openai:tts-9' })).body.metadata
  expect(unknown.cost).toBeCloseTo(0.034, 10)
})

test('models of Google make pictures and speech', async () => {
  google.script = (response) => answerWith(response, 200, JSON.stringify(inline('image/png', png)))
  const picture = (await paint({ model: 'google-ai:gemini-2.5-flash-image', size: '1920x1080' })).body.metadata
  expect(picture).toMatchObject({ format: 'png', usage: { inputTokens: 5, outputTokens: 1290 }, cost: 0.039 })
  expect(google.requests[0]!.body.generationConfig.imageConfig).toEqual({ aspectRatio: '16:9' })

  google.script = (response) => answerWith(response, 200, JSON.stringify(inline('audio/L16;rate=24000', audio)))
  const { body } = await speak({ model: 'google-ai:gemini-2.5-flash-preview-tts', format: 'mp3' })
  expect(body.metadata).toMatchObject({ voice: 'Kore', format: 'wav', warnings: [{ type: 'parameter_ignored' }] })
  expect(
    Buffer.from(await (await fetch(body.output.audioUrl)).arrayBuffer())
      .subarray(0, 4)
      .toString(),
  ).toBe('RIFF')
})

test.each([
  ['without a text', imagePath, {}],
  ['with an empty text', audioPath, { input: '' }],
  ['with too long a text', audioPath, { input: 'x'.repeat(4097) }],
  ['with a size that is none', imagePath, { prompt: 'a lamp', size: '0x0' }],
  ['for longer than files are kept', imagePath, { prompt: 'a lamp', options: { expirationDays: 91 } }],
  ['in a format that no model makes', audioPath, { input: 'Hi', format: 'exe' }],
])('a call %s is refused', async (_what, path, input) => {
  const { status, body } = await bot.entryPoints.overHttp('POST', path, input)
  expect({ status, type: body.type }).toEqual({ status: 400, type: 'InvalidPayload' })
  expect(endpoint.requests).toEqual([])
})

test('an answer that is no picture or no audio is a failure with a name, and no file', async () => {
  const page = Buffer.from('<script>alert(1)</script>').toString('base64')
  endpoint.script = (response) => answerWith(response, 200, JSON.stringify({ data: [{ b64_json: page }] }))
  const { status, body } = await paint({ model: 'local:small' })
  expect({ status, subtype: body.metadata.subtype }).toEqual({ status: 400, subtype: 'UPSTREAM_PROVIDER_FAILED' })
  expect(body.metadata.failures).toEqual([{ model: 'local:small', kind: 'malformed' }])
  endpoint.script = (response) => void response.writeHead(200).end()
  expect((await speak({ model: 'local:small' })).body.message).toContain('has no audio')
  endpoint.script = (response) => answerWith(response, 401, JSON.stringify({ error: { message: endpointKey } }))
  const refused = await speak({ model: 'local:small' })
  expect(refused.status).toBe(400)
  expect(JSON.stringify(refused.body)).not.toContain(endpointKey)
})

test('a budget that is used up, and quotas of files that are full, refuse a call before it is paid', async () => {
  const { id } = await platform.createBot()
  const ask = (path: string, input: object) => platform.ask('POST', path, input, { 'x-bot-id': id })
  await platform.ask('PUT', '/v1/admin/models/budget', { budget: { dayDollars: 0.01 }, botId: id })
  openai.script = (response) => draw(response, { quality: 'high', size: '1024x1024' })
  const model = 'openai:gpt-image-1-mini'
  expect((await ask(imagePath, { prompt: 'a lamp', model })).status).toBe(200)
  const { status, body } = await ask(imagePath, { prompt: 'a lamp', model })
  expect({ status, subtype: body.metadata.subtype }).toEqual({ status: 402, subtype: 'MODEL_BUDGET_EXCEEDED' })
  expect(openai.requests).toHaveLength(1)

  const client = new Client({ apiUrl: platform.url, token: platform.token, botId: id })
  for (let index = 1; index < 20; index++) await client.upsertFile({ key: `file-${index}`, size: 1 })
  const full = await ask(audioPath, { input: 'Hi', model: 'local:small' })
  expect({ status: full.status, type: full.body.type }).toEqual({ status: 403, type: 'QuotaExceeded' })
  expect(endpoint.requests).toEqual([])
})

test('an answer counts as memory as it comes: one for which there is none left is not held, and no other model is asked', async () => {
  const { id } = await platform.createBot()
  const large = Buffer.concat([png, Buffer.alloc(9 * megabyte)])
  endpoint.script = (response) =>
    answerWith(response, 200, JSON.stringify({ data: [{ b64_json: large.toString('base64') }] }))
  const paintFor = () => platform.ask('POST', imagePath, { prompt: 'a lamp' }, { 'x-bot-id': id })
  const { mediaMemory } = platform.context.models
  const other = mediaMemory.open(id)
  other.add(55 * megabyte)
  const { status, body } = await paintFor()
  expect({ status, type: body.type }).toEqual({ status: 429, type: 'RateLimited' })
  expect(body.message).toContain('cannot be held')
  expect(openai.requests).toEqual([])
  const { usage } = (await platform.ask('GET', `/v1/admin/models/usage?botId=${id}`)).body
  expect(usage).toContainEqual(expect.objectContaining({ model: 'local:small', calls: 1, outputTokens: 4160 }))

  other[Symbol.dispose]()
  expect((await paintFor()).status).toBe(200)
  using all = mediaMemory.open(id)
  all.add(64 * megabyte)
})

test('code gets a picture of up to 5.5 MB in an answer of OpenAI’s, and learns the way to a larger one', async () => {
  const painter = await platform.createBot(`
    export const hooks = {
      async afterIncomingMessage({ event, client }) {
        const body = JSON.stringify({ model: 'local:small', prompt: event.preview })
        const url = 'https://api.isobot.internal/v2/cognitive/openai/v1/images/generations'
        const answer = await (await fetch(url, { method: 'POST', body })).json()
        const text = answer.data ? String(answer.data[0].b64_json.length) : answer.error.message
        await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
      },
    }`)
  const user = await createChatUser(painter.chatUrl)
  const conversationId = await user.createConversation()
  const sizes = { allowed: 5.5 * megabyte, larger: 5.5 * megabyte + 1 }
  endpoint.script = (response, { body }) => {
    const picture = Buffer.alloc(sizes[body.prompt as keyof typeof sizes])
    png.copy(picture)
    answerWith(response, 200, JSON.stringify({ data: [{ b64_json: picture.toString('base64') }] }))
  }
  await user.send(conversationId, 'allowed')
  const patience = { timeout: 15_000 }
  await expect
    .poll(() => replies(platform, conversationId), patience)
    .toEqual([String(Math.ceil(sizes.allowed / 3) * 4)])
  await user.send(conversationId, 'larger')
  await expect
    .poll(async () => (await replies(platform, conversationId))[1], patience)
    .toContain("response_format 'url'")
})

test('a picture that code has made for a user is deleted with the user, and is a step of the event', async () => {
  const painter = await platform.createBot(`
    export const hooks = {
      async afterIncomingMessage({ event, client }) {
        const { output } = await client.generateImage({ prompt: event.preview })
        await client.createMessage({
          conversationId: event.conversationId, type: 'image', payload: { imageUrl: output.imageUrl, text: output.imageUrl },
        })
      },
    }`)
  const user = await createChatUser(painter.chatUrl)
  const conversationId = await user.createConversation()
  await user.send(conversationId, 'a lamp')
  await expect.poll(() => replies(platform, conversationId)).toHaveLength(1)
  const [url] = await replies(platform, conversationId)
  expect((await fetch(url!)).status).toBe(200)
  const [event] = await endedEvents(platform, painter.id, 1)
  const { body } = await platform.ask('GET', `/v1/admin/bots/${painter.id}/events/${event!.id}`)
  expect(JSON.stringify(body)).toContain('"model":{"id":"local:small"')
  const client = new Client({ apiUrl: platform.url, token: platform.token, botId: painter.id })
  await client.deleteUser({ id: event!.user_id! })
  await expect.poll(async () => (await fetch(url!)).status).toBe(404)
})

test('the action of the public interface makes a picture too, and lists the models', async () => {
  openai.script = (response) => draw(response, { quality: 'medium', size: '1024x1024' })
  const input = { prompt: 'a lamp', model: { id: 'gpt-image-1' }, expiration: 30, params: { quality: 'medium' } }
  const { status, body } = await callAction('openai:generateImage', input)
  expect({ status, output: body.output }).toEqual({
    status: 200,
    output: { model: 'gpt-image-1', imageUrl: expect.any(String), cost: 0.042, botpress: { cost: 0.042 } },
  })
  expect((await fetch(body.output.imageUrl)).headers.get('content-type')).toBe('image/png')
  expect((await callAction('openai:generateImage', { prompt: 7 })).body).toMatchObject({ type: 'InvalidPayload' })
  const { models } = (await callAction('google-ai:listImageModels', {})).body.output
  expect(models).toMatchObject([{ id: 'gemini-2.5-flash-image', costPerImage: 0.039, defaultSize: '1024x1024' }])
})

test('lists the models and their voices, apart from the models of texts', async () => {
  const { models } = (await bot.entryPoints.overHttp('GET', '/v2/cognitive/models')).body
  const tagsOf = (id: string) => models.find((model: { id: string }) => model.id === id).tags
  expect([tagsOf('openai:gpt-image-1'), tagsOf('google-ai:gemini-2.5-flash-preview-tts')]).toEqual([
    ['image-generation'],
    ['text-to-speech'],
  ])
  const type = 'openai:listLanguageModels'
  const listed = (await bot.entryPoints.overHttp('POST', '/v1/chat/actions', { type, input: {} })).body.output.models
  expect(listed.map(({ id }: { id: string }) => id)).not.toContain('tts-1')
  const { voices } = (await bot.entryPoints.overHttp('GET', '/v2/cognitive/voices')).body
  expect(voices).toContainEqual({
    id: 'Puck',
    displayName: 'Puck',
    provider: 'google-ai',
    models: ['google-ai:gemini-2.5-flash-preview-tts', 'google-ai:gemini-2.5-pro-preview-tts'],
    description: 'Upbeat',
  })
  const ofModel = (await bot.entryPoints.fromSandbox('GET', '/v2/cognitive/voices?model=openai:tts-1')).body.voices
  expect(ofModel.map(({ id }: { id: string }) => id)).toContain('alloy')
  expect(ofModel.map(({ id }: { id: string }) => id)).not.toContain('marin')
})

import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { answerWith, keys, startEndpoint, type ScriptedEndpoint } from '../../../support/models.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../../support/platform.ts'

let endpoint: ScriptedEndpoint
let google: ScriptedEndpoint
let platform: Platform
let bot: DeployedBot
const parts = new AsyncDisposableStack()
beforeAll(async () => {
  endpoint = parts.use(await startEndpoint())
  google = parts.use(await startEndpoint())
  platform = parts.use(
    await openPlatform({
      worker: false,
      environment: {
        ...endpoint.environment,
        GOOGLE_GENERATIVE_AI_API_KEY: keys.google,
        GOOGLE_GENERATIVE_AI_BASE_URL: `${google.url}/v1beta`,
        MODELS_SPEECH: 'local:small,local:large',
        MODELS_SECONDS: '10',
      },
    }),
  )
  bot = await platform.createBot()
})
beforeEach(() => {
  endpoint.requests.length = 0
  endpoint.aborted = 0
})
afterAll(() => parts.disposeAsync())

interface Chunk {
  audio?: string
  finished: boolean
  audioUrl?: string | null
  error?: string
  // oxlint-disable-next-line typescript/no-explicit-any
  metadata?: any
}

const ask = (input: object = {}, { signal, botId = bot.id }: { signal?: AbortSignal; botId?: string } = {}) =>
  fetch(`${platform.url}/v2/cognitive/generate-audio-stream`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.token}`, 'x-bot-id': botId, 'content-type': 'application/json' },
    body: JSON.stringify({ input: 'Good morning', ...input }),
    ...(signal && { signal }),
  })

async function chunksOf(response: Response): Promise<Chunk[]> {
  const text = await response.text()
  return text.split('\n').flatMap((line) => (line === '' ? [] : (JSON.parse(line) as Chunk)))
}

const bytesOf = (chunks: Chunk[]) => Buffer.concat(chunks.map(({ audio = '' }) => Buffer.from(audio, 'base64')))
const begin = (response: ServerResponse, bytes: Buffer) => {
  response.writeHead(200, { 'content-type': 'audio/mpeg' })
  response.write(bytes)
}
const usage = async (botId: string) =>
  (await platform.ask('GET', `/v1/admin/models/usage?botId=${botId}`)).body.usage as { calls: number; model: string }[]

describe('speech in parts', () => {
  test('arrives while the model still speaks, and then is a file', async () => {
    const [first, second] = [Buffer.alloc(100_000, 1), Buffer.alloc(100_001, 2)]
    const heard = Promise.withResolvers<void>()
    endpoint.script = async (response) => {
      begin(response, first)
      await heard.promise
      response.end(second)
    }
    const response = await ask({ voice: 'nova', format: 'opus' })
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'application/x-ndjson; charset=utf-8',
    ])
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = (await reader.read()).value!
    expect(text.slice(0, 20)).toBe('{"audio":"AQEBAQEBAQ')
    heard.resolve()
    for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value
    const chunks = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Chunk)
    const whole = Buffer.concat([first, second])
    expect(bytesOf(chunks)).toEqual(whole)
    // Clients may join the texts before they decode them.
    expect(Buffer.from(chunks.map(({ audio = '' }) => audio).join(''), 'base64')).toEqual(whole)
    const last = chunks.at(-1)!
    expect(last).toMatchObject({
      finished: true,
      metadata: { model: 'local:small', voice: 'nova', format: 'opus', characterCount: 12 },
    })
    expect(Buffer.from(await (await fetch(last.audioUrl!)).arrayBuffer())).toEqual(whole)
  })

  test('comes as one part from a provider whose answer is no audio but has it', async () => {
    const audio = Buffer.from('sixteen bytes ..')
    google.script = (response) => {
      const inlineData = { mimeType: 'audio/L16;rate=24000', data: audio.toString('base64') }
      answerWith(response, 200, JSON.stringify({ candidates: [{ content: { parts: [{ inlineData }] } }] }))
    }
    const chunks = await chunksOf(await ask({ model: 'google-ai:gemini-2.5-flash-preview-tts' }))
    expect(bytesOf(chunks).subarray(0, 4).toString()).toBe('RIFF')
    expect(chunks.at(-1)).toMatchObject({ finished: true, audioUrl: expect.stringMatching(/\.wav$/) })
  })

  test('is that of the next model where one fails before its first part', async () => {
    endpoint.script = (response, { body }) => {
      if (body.model === 'small') return answerWith(response, 500, '{}')
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('ID3')
    }
    const chunks = await chunksOf(await ask())
    expect(chunks.at(-1)!.metadata).toMatchObject({ model: 'local:large', fallbackPath: ['local:small'] })
  })

  test('that breaks off ends with an error, is no file, and is paid by estimate', async () => {
    const { id } = await platform.createBot()
    endpoint.script = (response) => {
      begin(response, Buffer.alloc(60_000))
      setTimeout(() => response.destroy(), 50)
    }
    const chunks = await chunksOf(await ask({}, { botId: id }))
    expect(chunks.at(-1)).toMatchObject({ finished: true, audioUrl: null, error: expect.stringContaining('broke off') })
    expect(endpoint.requests).toHaveLength(1)
    expect(await usage(id)).toMatchObject([{ model: 'local:small', calls: 1 }])
    expect(await platform.context.db('files').where({ bot_id: id })).toEqual([])
  })

  test('ends with its client', async () => {
    endpoint.script = (response) => begin(response, Buffer.alloc(60_000))
    const gone = new AbortController()
    const response = await ask({}, { signal: gone.signal })
    await response.body!.getReader().read()
    gone.abort()
    await expect.poll(() => endpoint.aborted).toBe(1)
  })

  test('is refused with a status before it begins', async () => {
    expect((await ask({ input: '' })).status).toBe(400)
    const { id } = await platform.createBot()
    await platform.ask('PUT', '/v1/admin/models/budget', { budget: { dayTokens: 0 }, botId: id })
    expect((await ask({}, { botId: id })).status).toBe(402)
    expect(endpoint.requests).toEqual([])
    endpoint.script = (response) => answerWith(response, 401, '{}')
    expect((await ask()).status).toBe(400)
  })
})

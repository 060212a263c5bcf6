import { Client } from '@botpress/client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openEntryPoints, type BotWithEntryPoints } from '../../../support/entry-points.ts'
import {
  answerWith,
  complete,
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
let platform: Platform
let bot: BotWithEntryPoints
let echo: ScriptedEndpoint['script']
beforeAll(async () => {
  providers = await startProviders()
  endpoint = await startEndpoint()
  echo = endpoint.script
  platform = await openPlatform({
    environment: {
      ...providers.environment,
      ...endpoint.environment,
      MODELS_AUTO: 'local:small',
      MODELS_BEST: 'local:large,openai:gpt-4.1',
      MODELS_SUBSTITUTE: 'local:large',
      MODELS_SECONDS: '3',
      METRICS_TOKEN: 'token-of-the-metrics',
    },
  })
  bot = await openEntryPoints(platform)
})
beforeEach(() => {
  endpoint.script = echo
  endpoint.requests.length = 0
  providers.mock.reset()
})
afterAll(async () => {
  await platform[Symbol.asyncDispose]()
  await endpoint[Symbol.asyncDispose]()
  await providers[Symbol.asyncDispose]()
})

const path = '/v2/cognitive/generate-text'
const user = (content: unknown) => ({ role: 'user', content })
const generate = (input: object) => bot.entryPoints.overHttp('POST', path, input)
const lastOf = (requests: { body: unknown }[]) => requests.at(-1)!.body

describe.each(['overHttp', 'fromSandbox'] as const)('%s', (entryPoint) => {
  test('a model answers, with its usage', async () => {
    const { status, body } = await bot.entryPoints[entryPoint]('POST', path, { messages: [user('hello')] })
    expect(status).toBe(200)
    expect(body).toEqual({
      output: 'You said: hello',
      metadata: {
        provider: 'local',
        model: 'local:small',
        usage: { inputTokens: 10, inputCost: 0, outputTokens: 5, outputCost: 0 },
        cost: 0,
        cached: false,
        latency: expect.any(Number),
        stopReason: 'stop',
        fallbackPath: [],
      },
    })
    expect(endpoint.requests[0]).toMatchObject({
      headers: { authorization: `Bearer ${endpointKey}` },
      body: { model: 'small', messages: [{ role: 'user', content: 'hello' }] },
    })
  })

  test('a picture of a file is read at its address, in place of the model', async () => {
    const client = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.botId })
    const { file } = await client.uploadFile({ key: 'cat.png', content: Buffer.from('png'), contentType: 'image/png' })
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'image', url: (await client.getFile(file)).file.url },
    ]
    const messages = [{ role: 'user', type: 'multipart', content }]
    const { status } = await bot.entryPoints[entryPoint]('POST', path, { messages })
    expect(status).toBe(200)
    expect(endpoint.requests[0]!.body.messages[0].content[1]).toEqual({
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${Buffer.from('png').toString('base64')}` },
    })
  })

  test('lists models, and the aliases that they answer to', async () => {
    const { status, body } = await bot.entryPoints[entryPoint]('GET', '/v2/cognitive/models')
    expect(status).toBe(200)
    const find = (id: string) => body.models.find((model: { id: string }) => model.id === id)
    expect(find('local:small')).toMatchObject({ aliases: ['auto'], input: { costPer1MTokens: 0 } })
    expect(find('local:large')).toMatchObject({ aliases: ['best'] })
    expect(find('openai:gpt-4.1')).toMatchObject({ input: { costPer1MTokens: 2 }, output: { costPer1MTokens: 8 } })
    expect(find('openai:gpt-4.1-nano').aliases).toEqual(['fast'])
  })
})

describe.each([
  ['openai', 'openai:gpt-4.1-2025-04-14'],
  ['anthropic', 'anthropic:claude-haiku-4-5'],
  ['google-ai', 'google-ai:gemini-2.5-flash'],
])('%s', (provider, model) => {
  test('answers with text, its usage and its price', async () => {
    const usage = { prompt_tokens: 1000, completion_tokens: 100, input_tokens: 1000, output_tokens: 100 }
    const ofGoogle = { promptTokenCount: 1000, candidatesTokenCount: 100 }
    providers.mock.onMessage('the weather', { content: 'It rains.', usage: { ...usage, ...ofGoogle } })
    const messages = [{ role: 'system', content: 'Be brief.' }, user('How is the weather?')]
    const { status, body } = await generate({ model, messages, temperature: 0.2, maxTokens: 50 })
    expect(status).toBe(200)
    const { cost, usage: counted } = body.metadata
    expect(body).toMatchObject({ output: 'It rains.', metadata: { provider, model, stopReason: 'stop' } })
    expect(counted).toMatchObject({ inputTokens: 1000, outputTokens: 100 })
    expect(cost).toBeCloseTo(counted.inputCost + counted.outputCost, 10)
    expect(counted.inputCost).toBeGreaterThan(0)
  })

  test('calls a tool, and continues with its result', async () => {
    providers.mock.onMessage('in Rome', { toolCalls: [{ name: 'weather', arguments: '{"city":"Rome"}' }] })
    const tools = [
      { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
    ]
    const question = user('How is the weather in Rome?')
    const first = await generate({ model, messages: [question], tools, toolControl: { mode: 'required' } })
    expect(first.body).toMatchObject({
      output: '',
      toolCalls: [{ id: expect.any(String), name: 'weather', input: { city: 'Rome' } }],
      metadata: { stopReason: 'tool_calls' },
    })
    const [{ id, name, input }] = first.body.toolCalls
    providers.mock.reset()
    providers.mock.on({ toolResultContains: '21 degrees' }, { content: 'It is warm.' })
    const messages = [
      question,
      {
        role: 'assistant',
        type: 'tool_calls',
        content: null,
        toolCalls: [{ id, type: 'function', function: { name, arguments: input } }],
      },
      { role: 'user', type: 'tool_result', toolResultCallId: id, content: '21 degrees' },
    ]
    expect((await generate({ model, messages, tools })).body).toMatchObject({ output: 'It is warm.' })
  })

  test('gets pictures and the schema of an answer', async () => {
    providers.mock.onMessage('What is it?', { content: '{"animal":"cat"}' })
    const pixel =
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'image', url: pixel },
    ]
    const responseSchema = { type: 'object', properties: { animal: { type: 'string' } }, required: ['animal'] }
    const { body } = await generate({ model, messages: [{ role: 'user', type: 'multipart', content }], responseSchema })
    expect(JSON.parse(body.output)).toEqual({ animal: 'cat' })
  })

  test('a refusal of the key is for the operator: the caller sees neither the key nor the text', async () => {
    const key = keys[provider === 'google-ai' ? 'google' : (provider as 'openai')]
    providers.mock.nextRequestError(401, { message: `Incorrect API key provided: ${key}` })
    const { status, body } = await generate({ model, messages: [user('hello')] })
    expect({ status, type: body.type }).toEqual({ status: 400, type: 'Runtime' })
    expect(body.metadata).toMatchObject({ subtype: 'UPSTREAM_PROVIDER_FAILED' })
    expect(body.message).toContain('the operator has to check its key')
    expect(JSON.stringify(body)).not.toMatch(/Incorrect|0123456789/)
  })
})

describe('the request', () => {
  test('takes what published clients send: aliases, lists of models, unknown fields', async () => {
    const input = {
      messages: [user('hi')],
      model: ['best'],
      signal: {},
      options: { requestId: '1' },
      meta: {},
      userId: 'u',
    }
    expect((await generate(input)).body.metadata.model).toBe('local:large')
    expect(lastOf(endpoint.requests)).not.toHaveProperty('signal')
    expect((await generate({ messages: [user('hi')], model: 'auto' })).body.metadata.model).toBe('local:small')
    expect((await generate({ messages: [user('hi')], maxTokens: null })).status).toBe(400)
  })

  test('names a model that no provider has: another one answers where the operator has said so', async () => {
    const { body } = await generate({ messages: [user('hi')], model: 'cerebras:gpt-oss-120b' })
    expect(body.metadata).toMatchObject({ model: 'local:large', warnings: [{ type: 'fallback_used' }] })
  })

  test('cannot choose the address: names of models are no paths', async () => {
    for (const model of ['google-ai:../../v1/files', 'openai:a/b', 'local:other', 'google-ai:x?y=1']) {
      const { body } = await generate({ messages: [user('hi')], model })
      expect(body.metadata.model).toBe('local:large')
    }
    expect(providers.mock.getRequests()).toEqual([])
  })

  test('ends an answer before a stop sequence that the model ignores', async () => {
    endpoint.script = (response) => complete(response, { content: 'one STOP two', finish_reason: 'length' })
    const { body } = await generate({ messages: [user('count')], stopSequences: ['END', 'STOP'] })
    expect(body).toMatchObject({ output: 'one ', metadata: { stopReason: 'stop' } })
    expect(lastOf(endpoint.requests)).toMatchObject({ stop: ['END', 'STOP'] })
  })

  test('joins the instructions, and asks for JSON in words too', async () => {
    const messages = [{ role: 'system', content: 'Be brief.' }, user('hi')]
    await generate({ messages, systemPrompt: 'Be kind.', responseFormat: 'json' })
    const { messages: sent, response_format: format } = lastOf(endpoint.requests) as {
      messages: { content: string }[]
      response_format: object
    }
    expect(sent[0]!.content).toMatch(/^Be kind\.\n\nBe brief\.\n\n.*JSON/)
    expect(format).toEqual({ type: 'json_object' })
  })

  test.each([
    [
      'a result of no call',
      { role: 'user', type: 'tool_result', toolResultCallId: 'x', content: '1' },
      'toolResultCallId',
    ],
    [
      'an address that an endpoint of the operator’s network would fetch',
      user([{ type: 'image', url: 'https://169.254.169.254/latest' }]),
      'must be a data URL',
    ],
    ['a file of the machine', user([{ type: 'image', url: 'file:///etc/passwd' }]), 'must be a data URL'],
    ['a data URL without data', user([{ type: 'image', url: 'data:image/png;base64,' }]), 'base64'],
  ])('is refused with %s', async (_what, message, hint) => {
    const { status, body } = await generate({ messages: [message] })
    expect({ status, type: body.type }).toEqual({ status: 400, type: 'InvalidPayload' })
    expect(body.message).toContain(hint)
    expect(endpoint.requests).toEqual([])
  })

  test.each([
    ['a file of another type', 'text/plain', 3, 'it is of the type text/plain'],
    ['files of more than 20 MB', 'image/png', 20 * 1024 * 1024 + 1, 'more than 20 MB'],
  ])('is refused with %s', async (_what, contentType, bytes, hint) => {
    const client = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.botId })
    const { file } = await client.uploadFile({ key: 'other', content: Buffer.alloc(bytes), contentType })
    const { url } = (await client.getFile(file)).file
    const { status, body } = await generate({ messages: [user([{ type: 'image', url }])] })
    expect({ status, type: body.type }).toEqual({ status: 400, type: 'InvalidPayload' })
    expect(body.message).toContain(hint)
    expect(endpoint.requests).toEqual([])
  })

  test('is refused where a file that it names many times is more than 20 MB in all', async () => {
    const client = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.botId })
    const content = Buffer.alloc(3 * 1024 * 1024)
    const { file } = await client.uploadFile({ key: 'often', content, contentType: 'image/png' })
    const { url } = (await client.getFile(file)).file
    const { status, body } = await generate({
      messages: [user(Array.from({ length: 7 }, () => ({ type: 'image', url })))],
    })
    expect({ status, message: body.message }).toEqual({
      status: 400,
      message: expect.stringContaining('more than 20 MB'),
    })
    expect(endpoint.requests).toEqual([])
  })

  test('of a bot is that of its workspace only', async () => {
    const answer = await platform.ask('POST', path, { messages: [user('hi')] }, { 'x-bot-id': 'bot_unknown' })
    expect(answer.status).toBe(403)
  })
})

describe('a provider that', () => {
  test('fails for a moment is asked again, and then another model is', async () => {
    providers.mock.onMessage('hi', { content: 'from the other' })
    endpoint.script = (response) => answerWith(response, 503, '{}')
    const { body } = await generate({ model: 'best', messages: [user('hi')] })
    expect(body).toMatchObject({
      output: 'from the other',
      metadata: { model: 'openai:gpt-4.1', fallbackPath: ['local:large'] },
    })
    expect(endpoint.requests).toHaveLength(2)
  })

  test('limits the rate gives 429, and the time after which to try again', async () => {
    endpoint.script = (response) => answerWith(response, 429, '{}', { 'retry-after': '30' })
    const { status, body } = await generate({ messages: [user('hi')] })
    expect({ status, type: body.type }).toEqual({ status: 429, type: 'RateLimited' })
    expect(endpoint.requests).toHaveLength(1)
  })

  test('refuses the request says why, without the key that it repeats', async () => {
    const message = `context too long for ${endpointKey} and ${keys.openai} ${'x'.repeat(5000)}`
    endpoint.script = (response) => answerWith(response, 400, JSON.stringify({ error: { message } }))
    const { status, body } = await generate({ messages: [user('hi')] })
    expect({ status, type: body.type }).toEqual({ status: 400, type: 'Runtime' })
    expect(body.message).toContain('context too long')
    expect(JSON.stringify(body)).not.toMatch(/key-of-the-endpoint|0123456789/)
    expect(body.message.length).toBeLessThan(500)
  })

  test.each<[string, ScriptedEndpoint['script']]>([
    [
      'redirects to a private address',
      (response) => answerWith(response, 307, '', { location: `${endpoint.url}/v1/stolen` }),
    ],
    ['answers with something else than JSON', (response) => answerWith(response, 200, '<html>')],
    ['answers with other JSON', (response) => answerWith(response, 200, '{"choices":7}')],
    ['answers without end', (response) => void flood(response)],
    [
      'sends half of its answer',
      (response) =>
        void response.writeHead(200, { 'content-length': '100' }).write('{"choices"', () => response.destroy()),
    ],
    ['never answers', () => {}],
    ['stops in the middle', (response) => void response.writeHead(200).write('{"id":"1",')],
  ])('%s is a failure that clients do not repeat', { timeout: 20_000 }, async (_what, script) => {
    endpoint.script = script
    const { status, body } = await generate({ messages: [user('hi')] })
    expect({ status, type: body.type }).toEqual({ status: 400, type: 'Runtime' })
    expect(body.metadata).toMatchObject({ subtype: 'UPSTREAM_PROVIDER_FAILED', provider: 'unknown' })
    expect(endpoint.requests.filter(({ path }) => path !== '/v1/chat/completions')).toEqual([])
  })

  test.each(['{"id":"1"}', '{"id":"1","choices":[]}'])(
    'answers %s is at fault, and not the request',
    async (answer) => {
      endpoint.script = (response) => answerWith(response, 200, answer)
      const { status, body } = await generate({ messages: [user('hi')] })
      expect({ status, message: body.message }).toEqual({
        status: 400,
        message: expect.stringContaining('answered with something else than an answer'),
      })
      expect(body.metadata.failures).toEqual([expect.objectContaining({ kind: 'malformed', status: 200 })])
    },
  )

  test('gives characters that cannot be stored, wrong inputs of tools and no usage is answered nevertheless', async () => {
    endpoint.script = (response) =>
      complete(response, {
        content: 'a\0b\uD800',
        tool_calls: [toolCall('1', '{"a":"\\u0000"}'), toolCall('2', '[1'), toolCall('3', '['.repeat(100_000), 'a\0b')],
        usage: null,
      })
    const { status, body } = await bot.entryPoints.fromSandbox('POST', path, { messages: [user('hi')] })
    expect(status).toBe(200)
    expect(body).toMatchObject({ output: 'a\uFFFDb\uFFFD', metadata: { stopReason: 'tool_calls' } })
    expect(body.toolCalls.map(({ input }: { input: object }) => input)).toEqual([{ a: '\uFFFD' }, {}, {}])
    expect(body.metadata.usage.inputTokens).toBeGreaterThan(0)
  })
})

const toolCall = (id: string, input: string, name = 'tool') => ({
  id,
  type: 'function',
  function: { name, arguments: input },
})

/** Sends more and more, as long as the client reads. */
async function flood(response: Parameters<ScriptedEndpoint['script']>[0]): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' })
  const part = ' '.repeat(1024 * 1024)
  while (!response.destroyed)
    if (!response.write(part)) await new Promise((resolve) => void response.once('drain', resolve))
}

test('the request ends with its caller', async () => {
  endpoint.script = () => {}
  const before = endpoint.aborted
  const caller = new AbortController()
  const request = fetch(`${platform.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.token}`, 'x-bot-id': bot.botId, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [user('hi')] }),
    signal: caller.signal,
  })
  await expect.poll(() => endpoint.requests.length).toBe(1)
  caller.abort()
  await expect(request).rejects.toThrow('aborted')
  await expect.poll(() => endpoint.aborted, { timeout: 2000 }).toBe(before + 1)
})

test('the metrics have calls, tokens and cost by provider', async () => {
  await generate({ messages: [user('hi')] })
  const answer = await fetch(`${platform.url}/metrics`, { headers: { authorization: 'Bearer token-of-the-metrics' } })
  const text = await answer.text()
  expect(text).toMatch(/isobot_model_call_duration_seconds_count\{provider="local",outcome="answered"\} \d/)
  expect(text).toMatch(/isobot_model_tokens_total\{provider="local",kind="input"\} \d/)
})

import type { ServerResponse } from 'node:http'
import { CognitiveBeta } from '@botpress/cognitive'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  answerWith,
  keys,
  ScriptedStream,
  startEndpoint,
  startProviders,
  type ScriptedEndpoint,
  type SimulatedProviders,
} from '../../../support/models.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../../support/platform.ts'

let providers: SimulatedProviders
let endpoint: ScriptedEndpoint
let platform: Platform
let bot: DeployedBot
const parts = new AsyncDisposableStack()
beforeAll(async () => {
  providers = parts.use(await startProviders())
  endpoint = parts.use(await startEndpoint())
  platform = parts.use(
    await openPlatform({
      worker: false,
      environment: {
        ...providers.environment,
        ...endpoint.environment,
        MODELS_AUTO: 'local:small,local:large',
        MODELS_SECONDS: '20',
        MODELS_IDLE_SECONDS: '1',
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
  output: string
  finished: boolean
  error?: string
  toolCalls?: unknown[]
  // oxlint-disable-next-line typescript/no-explicit-any
  metadata?: any
}

const question = { messages: [{ role: 'user', content: 'hello' }] }

function ask(input: object = question, { signal, key }: { signal?: AbortSignal; key?: string } = {}) {
  return fetch(`${platform.url}/v2/cognitive/generate-text-stream`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${platform.token}`,
      'x-bot-id': bot.id,
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: JSON.stringify(input),
    ...(signal && { signal }),
  })
}

async function chunksOf(response: Response): Promise<Chunk[]> {
  const text = await response.text()
  return text.split('\n').flatMap((line) => (line === '' ? [] : (JSON.parse(line) as Chunk)))
}

const textOf = (chunks: Chunk[]) => chunks.map(({ output }) => output).join('')

async function spent(): Promise<number> {
  const { body } = await platform.ask('GET', `/v1/admin/models/budget?botId=${bot.id}`)
  return body.spent.day.tokens
}

/** The tokens that a request adds to what is spent, once that is settled. */
async function costOf(work: () => Promise<unknown>, tokens: number): Promise<void> {
  const before = await spent()
  await work()
  await expect.poll(async () => (await spent()) - before, { timeout: 5000 }).toBe(tokens)
}

describe.each(['openai:gpt-4.1', 'anthropic:claude-haiku-4-5', 'google-ai:gemini-2.5-flash'])('%s', (model) => {
  test('an answer comes in pieces, and its last chunk has usage and cost', async () => {
    providers.mock.reset()
    const reported = { prompt_tokens: 20, completion_tokens: 10, input_tokens: 20, output_tokens: 10 }
    const ofGoogle = { promptTokenCount: 20, candidatesTokenCount: 10, totalTokenCount: 30 }
    const content = 'One two three four five six seven.'
    providers.mock.on({ userMessage: 'hello' }, { content, usage: { ...reported, ...ofGoogle } }, { chunkSize: 6 })
    const chunks = await chunksOf(await ask({ ...question, model }))
    expect(textOf(chunks)).toBe('One two three four five six seven.')
    expect(chunks.length).toBeGreaterThan(3)
    expect(chunks.at(-1)).toMatchObject({ output: '', finished: true, metadata: { stopReason: 'stop', model } })
    const { usage, cost, ttft, latency } = chunks.at(-1)!.metadata
    expect(usage).toMatchObject({ inputTokens: 20, outputTokens: 10 })
    expect(cost).toBeCloseTo(usage.inputCost + usage.outputCost)
    expect(ttft).toBeLessThanOrEqual(latency)
  })

  test('a model that limits the rate, is overloaded or fails before its first text is an answer with a status', async () => {
    providers.mock.reset()
    for (const [status, expected] of [
      [429, 429],
      [529, 400],
      [500, 400],
    ] as const) {
      providers.mock.on(
        { userMessage: 'hello' },
        {
          error: { message: 'no', type: 'x' },
          status,
          retryAfter: 9,
        },
      )
      const response = await ask({ ...question, model })
      expect([status, response.status]).toEqual([status, expected])
      providers.mock.reset()
    }
  })
})

test('the first piece arrives while the model is still writing, and the connection has the type of lines', async () => {
  const { promise, resolve } = Promise.withResolvers<ScriptedStream>()
  endpoint.script = (response) => resolve(new ScriptedStream(response))
  const asked = ask()
  const stream = await promise
  stream.write('Hel')
  const response = await asked
  expect(response.headers.get('content-type')).toContain('application/x-ndjson')
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  expect(JSON.parse((await reader.read()).value!)).toMatchObject({ output: 'Hel', finished: false })
  stream.write('lo')
  expect(JSON.parse((await reader.read()).value!)).toMatchObject({ output: 'lo', finished: false })
  stream.end()
  expect(JSON.parse((await reader.read()).value!)).toMatchObject({
    finished: true,
    metadata: { provider: 'local', usage: { inputTokens: 10, outputTokens: 5 } },
  })
})

test('a stop sequence across pieces ends the answer, and the model is no longer asked', async () => {
  endpoint.script = (response) => {
    const stream = new ScriptedStream(response)
    for (const piece of ['One ', 'E', 'ND', 'x E', 'N', 'D of it', ' all']) stream.write(piece)
  }
  const chunks = await chunksOf(await ask({ ...question, stopSequences: ['END of'] }))
  expect(textOf(chunks)).toBe('One ENDx ')
  expect(chunks.at(-1)!.metadata.stopReason).toBe('stop')
  await expect.poll(() => endpoint.aborted).toBe(1)
})

test('an answer whose events wrap its words in many megabytes comes whole', async () => {
  // As those of OpenAI, which pads its events so that their lengths tell nothing.
  const obfuscation = 'x'.repeat(1000)
  endpoint.script = (response) => {
    const stream = new ScriptedStream(response)
    for (let index = 0; index < 9000; index++) {
      stream.send(JSON.stringify({ id: 'c1', choices: [{ index: 0, delta: { content: 'word ' } }], obfuscation }))
    }
    stream.end()
  }
  const chunks = await chunksOf(await ask())
  expect(chunks.at(-1)).toMatchObject({ finished: true, metadata: { usage: { inputTokens: 10, outputTokens: 5 } } })
  expect(textOf(chunks)).toBe('word '.repeat(9000))
})

const endless: [string, (stream: ScriptedStream, response: ServerResponse) => boolean][] = [
  ['a text without end', (stream) => stream.write('x'.repeat(100_000))],
  ['thoughts without end', (stream) => stream.send(think)],
  ['calls of tools without end', (stream) => stream.send(callTools)],
  ['an event without end', (_stream, response) => response.write('x'.repeat(100_000))],
]
const chunkOf = (delta: object) => JSON.stringify({ id: 'c1', choices: [{ index: 0, delta }] })
const think = chunkOf({ reasoning_content: 'x'.repeat(100_000) })
const callTools = chunkOf({
  tool_calls: Array.from({ length: 1000 }, () => ({ function: { name: 'f', arguments: '{}' } })),
})
test.each(endless)('%s ends the answer with an error, and is not read on', async (_name, more) => {
  endpoint.script = async (response) => {
    const stream = new ScriptedStream(response)
    stream.write('begin')
    while (!response.destroyed) {
      if (!more(stream, response)) {
        await new Promise((resolve) => void response.once('drain', resolve).once('close', resolve))
      }
    }
  }
  const chunks = await chunksOf(await ask())
  expect(chunks.at(-1)!.error).toBe('No model answered: local:small answered too much')
  expect(chunks.at(-1)!.metadata.usage.outputTokens).toBeGreaterThan(0)
  expect(endpoint.requests).toHaveLength(1)
})

test('an answer that says that it is over is whole, although its connection stays open', async () => {
  endpoint.script = (response) => {
    const stream = new ScriptedStream(response)
    stream.write('all of it')
    stream.send(JSON.stringify({ id: 'c1', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }))
    response.write('data: [DO')
    setTimeout(() => response.write('NE]\n\n'), 50)
  }
  const chunks = await chunksOf(await ask())
  expect(textOf(chunks)).toBe('all of it')
  expect(chunks.at(-1)).toMatchObject({ finished: true, metadata: { stopReason: 'stop' } })
  expect(chunks.at(-1)!.error).toBeUndefined()
  await expect.poll(() => endpoint.aborted).toBe(1)
})

test('half of a character waits for its other half', async () => {
  endpoint.script = (response) => {
    const stream = new ScriptedStream(response)
    stream.send('{"id":"c","choices":[{"index":0,"delta":{"content":"a\\ud83d"}}]}')
    stream.send('{"id":"c","choices":[{"index":0,"delta":{"content":"\\ude00b\\u0000"}}]}')
    stream.end()
  }
  expect((await chunksOf(await ask())).map(({ output }) => output)).toEqual(['a', '😀b\uFFFD', ''])
})

test('calls of tools are in the last chunk', async () => {
  endpoint.script = (response) => {
    const stream = new ScriptedStream(response)
    stream.call('find', { number: 7 })
    stream.end('tool_calls')
  }
  const chunks = await chunksOf(await ask({ ...question, tools: [{ name: 'find' }] }))
  expect(chunks).toMatchObject([
    { finished: true, toolCalls: [{ name: 'find', input: { number: 7 } }], metadata: { stopReason: 'tool_calls' } },
  ])
})

test('a stream that breaks before its first text is made again, by the same model and then by the next one', async () => {
  endpoint.script = (response, { body }) => {
    const stream = new ScriptedStream(response)
    if (body.model === 'small') return stream.destroy()
    stream.write('from the other')
    stream.end()
  }
  const chunks = await chunksOf(await ask())
  expect(textOf(chunks)).toBe('from the other')
  expect(chunks.at(-1)!.metadata.fallbackPath).toEqual(['local:small'])
  expect(endpoint.requests.map(({ body }) => body.model)).toEqual(['small', 'small', 'large'])
})

const breaks: [string, (stream: ScriptedStream) => void][] = [
  ['a broken connection', (stream) => stream.destroy()],
  ['a line that is no JSON', (stream) => stream.send('{"id"')],
  ['an error in the stream', (stream) => stream.send('{"error":{"message":"key-of-the-endpoint is overloaded"}}')],
  ['silence', () => {}],
]
test.each(breaks)(
  '%s within an answer ends it with an error; no other model is asked, and the text so far is paid',
  async (_name, breakOff) => {
    endpoint.script = (response) => {
      const stream = new ScriptedStream(response)
      stream.write('x'.repeat(400))
      setTimeout(() => breakOff(stream), 50)
    }
    let chunks: Chunk[] = []
    // 400 characters are 100 tokens; the question is estimated.
    const input = Math.ceil(Buffer.byteLength(JSON.stringify([null, question.messages, null, null])) / 4)
    await costOf(async () => void (chunks = await chunksOf(await ask())), input + 100)
    expect(textOf(chunks)).toBe('x'.repeat(400))
    expect(chunks.at(-1)).toMatchObject({ output: '', finished: true, metadata: { stopReason: 'other' } })
    expect(chunks.at(-1)!.error).toMatch(/^No model answered: /)
    expect(JSON.stringify(chunks)).not.toContain('key-of-the-endpoint')
    expect(endpoint.requests).toHaveLength(1)
  },
)

test('a client that disconnects ends the call of the model, and pays for the text so far', async () => {
  endpoint.script = (response) => void new ScriptedStream(response).write('y'.repeat(40))
  const input = Math.ceil(Buffer.byteLength(JSON.stringify([null, question.messages, null, null])) / 4)
  await costOf(async () => {
    const gone = new AbortController()
    const response = await ask(question, { signal: gone.signal })
    await response.body!.getReader().read()
    gone.abort()
  }, input + 10)
  await expect.poll(() => endpoint.aborted).toBe(1)
})

test('a request that is repeated with its idempotency key gets the same lines, and no model is asked', async () => {
  endpoint.script = (response) => {
    const stream = new ScriptedStream(response)
    stream.write('once')
    stream.end()
  }
  const first = await ask(question, { key: 'a-key-of-a-stream' })
  const again = await ask(question, { key: 'a-key-of-a-stream' })
  expect(await again.text()).toBe(await first.text())
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(endpoint.requests).toHaveLength(1)
})

test('a client that disconnects before the first text pays for what the model may have thought', async () => {
  endpoint.script = (response) => void new ScriptedStream(response)
  const input = Math.ceil(Buffer.byteLength(JSON.stringify([null, question.messages, null, null])) / 4)
  await costOf(async () => {
    const gone = new AbortController()
    const response = ask({ ...question, maxTokens: 50 }, { signal: gone.signal })
    await expect.poll(() => endpoint.requests.length).toBe(1)
    gone.abort()
    await expect(response).rejects.toThrow('aborted')
  }, input + 50)
})

test('a stream that breaks leaves no trace of its idempotency key', async () => {
  endpoint.script = (response) => {
    const stream = new ScriptedStream(response)
    stream.write('half')
    setTimeout(() => stream.destroy(), 50)
  }
  const broken = await ask(question, { key: 'a-key-of-a-broken-stream' })
  expect(broken.status).toBe(400)
  expect(await broken.text()).toContain('No model answered')
  endpoint.script = (response) => {
    const stream = new ScriptedStream(response)
    stream.write('whole')
    stream.end()
  }
  const again = await ask(question, { key: 'a-key-of-a-broken-stream' })
  expect(textOf(await chunksOf(again))).toBe('whole')
  expect(again.headers.get('idempotent-replayed')).toBeNull()
})

test('a used-up budget is an answer with 402 before anything is sent', async () => {
  const other = await platform.createBot()
  await platform.ask('PUT', '/v1/admin/models/budget', { botId: other.id, budget: { dayTokens: 0 } })
  const response = await fetch(`${platform.url}/v2/cognitive/generate-text-stream`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${platform.token}`,
      'x-bot-id': other.id,
      'content-type': 'application/json',
    },
    body: JSON.stringify(question),
  })
  expect(response.status).toBe(402)
  expect(endpoint.requests).toHaveLength(0)
})

test('the published client reads the stream, and gets an error for a failure before it', async () => {
  endpoint.script = (response) => {
    const stream = new ScriptedStream(response)
    for (const piece of ['a', 'ä', '…']) stream.write(piece)
    stream.end()
  }
  const client = new CognitiveBeta({ apiUrl: platform.url, token: platform.token, botId: bot.id })
  const read = async () => {
    const chunks = []
    for await (const chunk of client.generateTextStream(question as never)) chunks.push(chunk)
    return chunks
  }
  const chunks = await read()
  expect(chunks.map(({ output }) => output ?? '').join('')).toBe('aä…')
  expect(chunks.at(-1)).toMatchObject({ finished: true, metadata: { usage: { outputTokens: 5 } } })
  endpoint.script = (response) => answerWith(response, 503, '{}')
  await expect(read()).rejects.toMatchObject({ response: { status: 400 } })
})

interface Wire {
  model: string
  /** The start of an answer without text. */
  begin: object[]
  text: (text: string) => object
  end: object[]
  /** The provider is overloaded after it has answered with 200. */
  overload: object
}

const secret = keys.anthropic
const wires: Wire[] = [
  {
    model: 'anthropic:claude-haiku-4-5',
    begin: [
      {
        type: 'message_start',
        message: {
          id: 'm',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          usage: { input_tokens: 20, output_tokens: 1 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ],
    text: (text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    end: [
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 10 } },
      { type: 'message_stop' },
    ],
    overload: { type: 'error', error: { type: 'overloaded_error', message: `${secret} is overloaded` } },
  },
  {
    model: 'google-ai:gemini-2.5-flash',
    begin: [],
    text: (text) => ({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] } }] }),
    end: [
      {
        candidates: [{ index: 0, content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 10, totalTokenCount: 30 },
      },
    ],
    overload: { error: { code: 503, status: 'UNAVAILABLE', message: `${secret} is overloaded` } },
  },
]

const send = (stream: ScriptedStream, events: object[]) => {
  for (const event of events) stream.send(JSON.stringify(event))
}
const isOther = ({ path }: { path: string }) => path.endsWith('/chat/completions')
const answerOther = (response: ServerResponse) => {
  const stream = new ScriptedStream(response)
  stream.write('from the other')
  stream.end()
}

describe.each(wires)('on the wire of $model', ({ model, begin, text, end, overload }) => {
  let hosted: Platform
  let botId: string
  const own = new AsyncDisposableStack()
  beforeAll(async () => {
    const environment = {
      ...endpoint.environment,
      ANTHROPIC_API_KEY: secret,
      ANTHROPIC_BASE_URL: `${endpoint.url}/v1`,
      GOOGLE_GENERATIVE_AI_API_KEY: keys.google,
      GOOGLE_GENERATIVE_AI_BASE_URL: `${endpoint.url}/v1beta`,
      MODELS_SECONDS: '20',
      MODELS_IDLE_SECONDS: '1',
    }
    hosted = own.use(await openPlatform({ worker: false, environment }))
    botId = (await hosted.createBot()).id
  })
  afterAll(() => own.disposeAsync())

  const answerFrom = (input = {}) =>
    fetch(`${hosted.url}/v2/cognitive/generate-text-stream`, {
      method: 'POST',
      headers: { authorization: `Bearer ${hosted.token}`, 'x-bot-id': botId, 'content-type': 'application/json' },
      body: JSON.stringify({ ...question, model: [model, 'local:small'], ...input }),
    })

  const within: [string, (stream: ScriptedStream) => void][] = [
    ['overload', (stream) => stream.send(JSON.stringify(overload))],
    ['a broken connection', (stream) => stream.destroy()],
    ['an end without its last event', (stream) => stream.close()],
    ['a line that is no JSON', (stream) => stream.send('{"type"')],
    ['silence', () => {}],
  ]
  test.each(within)(
    '%s within an answer ends it with an error, and no other model is asked',
    async (_name, breakOff) => {
      endpoint.script = (response, request) => {
        if (isOther(request)) return answerOther(response)
        const stream = new ScriptedStream(response)
        send(stream, [...begin, text('x'.repeat(40))])
        setTimeout(() => breakOff(stream), 50)
      }
      const chunks = await chunksOf(await answerFrom())
      expect(textOf(chunks)).toBe('x'.repeat(40))
      expect(chunks.at(-1)).toMatchObject({ finished: true, error: expect.stringMatching(/^No model answered: /) })
      expect(JSON.stringify(chunks)).not.toContain(secret)
      expect(endpoint.requests).toHaveLength(1)
    },
  )

  test.each(within.slice(0, 4))('%s before the first text lets the next model answer', async (_name, breakOff) => {
    endpoint.script = (response, request) => {
      if (isOther(request)) return answerOther(response)
      const stream = new ScriptedStream(response)
      send(stream, begin)
      breakOff(stream)
    }
    const chunks = await chunksOf(await answerFrom())
    expect(textOf(chunks)).toBe('from the other')
    expect(chunks.at(-1)!.metadata.fallbackPath).toEqual([model])
  })

  test('a limit of the rate is waited for once, as long as the provider says, and a slow first text is no failure', async () => {
    const times: number[] = []
    endpoint.script = (response) => {
      times.push(performance.now())
      if (times.length === 1) return answerWith(response, 429, '{"error":{}}', { 'retry-after': '1' })
      const stream = new ScriptedStream(response)
      // Longer than a model may pause within an answer.
      setTimeout(() => {
        send(stream, [...begin, text('slow'), ...end])
        stream.close()
      }, 1200)
    }
    const chunks = await chunksOf(await answerFrom())
    expect([textOf(chunks), chunks.at(-1)!.metadata.model]).toEqual(['slow', model])
    expect(chunks.at(-1)!.metadata.usage).toMatchObject({ inputTokens: 20, outputTokens: 10 })
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(990)
  })
})

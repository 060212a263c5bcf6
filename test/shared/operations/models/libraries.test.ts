import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Anthropic, { APIError as AnthropicError } from '@anthropic-ai/sdk'
import OpenAI, { APIError as OpenAIError, toFile } from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { answerWith, complete, ScriptedStream, startEndpoint, type ScriptedEndpoint } from '../../../support/models.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../../support/platform.ts'

let endpoint: ScriptedEndpoint
let platform: Platform
let bot: DeployedBot
let openai: OpenAI
let anthropic: Anthropic
const parts = new AsyncDisposableStack()
beforeAll(async () => {
  endpoint = parts.use(await startEndpoint())
  platform = parts.use(await openPlatform({ worker: false, environment: endpoint.environment }))
  bot = await platform.createBot()
  const defaultHeaders = { 'x-bot-id': bot.id }
  openai = new OpenAI({ apiKey: platform.token, baseURL: `${platform.url}/v2/cognitive/openai/v1`, defaultHeaders })
  anthropic = new Anthropic({
    authToken: platform.token,
    apiKey: null,
    baseURL: `${platform.url}/v2/cognitive/anthropic`,
    defaultHeaders,
  })
})
beforeEach(() => {
  endpoint.requests.length = 0
  endpoint.script = (response, { body }) => complete(response, { content: `You said: ${body.messages.at(-1).content}` })
})
afterAll(() => parts.disposeAsync())

const asked = () => endpoint.requests.map(({ body }) => body)
const transcribe = (content: Buffer, name: string, options = {}) =>
  toFile(content, name).then((file) => openai.audio.transcriptions.create({ file, model: 'local:small', ...options }))
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const callWeather = (response: Parameters<typeof complete>[0]) =>
  complete(response, {
    tool_calls: [{ id: 'call1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }],
    finish_reason: 'tool_calls',
  })
const stream = (response: Parameters<typeof complete>[0]) => {
  const words = new ScriptedStream(response)
  for (const word of ['Über ', 'die ', 'Brücke']) words.write(word)
  words.end()
}

describe('the library of OpenAI', () => {
  test('gets an answer of the model that it names, with its usage, and the models', async () => {
    const answer = await openai.chat.completions.create({
      model: 'local:large',
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'hello' },
      ],
      max_completion_tokens: 50,
      temperature: 0.5,
      stop: 'END',
    })
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f]{24}$/),
      object: 'chat.completion',
      model: 'local:large',
      choices: [{ message: { role: 'assistant', content: 'You said: hello' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    })
    expect(asked()).toMatchObject([
      {
        model: 'large',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'hello' },
        ],
        max_tokens: 50,
        temperature: 0.5,
        stop: ['END'],
      },
    ])
    const { data } = await openai.models.list()
    expect(data.map(({ id }) => id)).toEqual(['auto', 'fast', 'best', 'local:small', 'local:large'])
  })

  test('has the model call a tool, and tells it the result', async () => {
    endpoint.script = (response, { body }) =>
      body.messages.length === 1 ? callWeather(response) : complete(response, { content: 'It rains.' })
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'The weather?' }]
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: schema } }]
    const first = await openai.chat.completions.create({
      model: 'auto',
      messages,
      tools,
      tool_choice: { type: 'function', function: { name: 'weather' } },
      parallel_tool_calls: false,
    })
    const { message, finish_reason } = first.choices[0]!
    expect([message.content, finish_reason]).toEqual([null, 'tool_calls'])
    expect(message.tool_calls).toEqual([
      { id: 'call1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
    ])
    messages.push(message, { role: 'tool', tool_call_id: 'call1', content: [{ type: 'text', text: 'rain' }] })
    const second = await openai.chat.completions.create({ model: 'auto', messages, tools })
    expect(second.choices[0]!.message.content).toBe('It rains.')
    const [one, two] = asked()
    expect(one).toMatchObject({
      tools: [{ function: { name: 'weather', parameters: schema } }],
      tool_choice: { function: { name: 'weather' } },
      parallel_tool_calls: false,
    })
    expect(two.messages.slice(1)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'call1', function: { name: 'weather', arguments: '{"city":"Rome"}' } }] },
      { role: 'tool', tool_call_id: 'call1', content: 'rain' },
    ])
  })

  test('sends pictures, and a schema of the answer', async () => {
    endpoint.script = (response) => complete(response, { content: '{"city":"Rome"}' })
    const url = `data:image/png;base64,${Buffer.from('png').toString('base64')}`
    const answer = await openai.chat.completions.parse({
      model: 'auto',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Where is it?' },
            { type: 'image_url', image_url: { url, detail: 'low' } },
          ],
        },
      ],
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema, strict: true } },
    })
    expect(answer.choices[0]!.message.content).toBe('{"city":"Rome"}')
    expect(asked()[0].messages.at(-1).content).toMatchObject([
      { type: 'text', text: 'Where is it?' },
      { type: 'image_url', image_url: { url } },
    ])
    expect(JSON.stringify(asked()[0])).toContain('"city"')
  })

  test('reads a stream from its first word on, its tool calls and its usage', async () => {
    endpoint.script = stream
    const read = await openai.chat.completions.create({
      model: 'auto',
      messages: [{ role: 'user', content: 'Tell' }],
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks: OpenAI.ChatCompletionChunk[] = []
    for await (const chunk of read) chunks.push(chunk)
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Über die Brücke')
    expect(chunks.at(-2)!.choices[0]!.finish_reason).toBe('stop')
    expect(chunks.at(-1)).toMatchObject({ model: 'local:small', choices: [], usage: { total_tokens: 15 } })
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)

    endpoint.script = (response) => {
      const calling = new ScriptedStream(response)
      calling.call('weather', { city: 'Rome' })
      calling.end('tool_calls')
    }
    const { choices } = await openai.chat.completions
      .stream({
        model: 'auto',
        messages: [{ role: 'user', content: 'The weather?' }],
        tools: [{ type: 'function', function: { name: 'weather', parameters: schema } }],
      })
      .finalChatCompletion()
    expect(choices[0]!.message.tool_calls).toMatchObject([
      { function: { name: 'weather', arguments: '{"city":"Rome"}' } },
    ])
  })

  test('throws its own errors: for a model that nobody has, a message that is wrong, a stream that breaks', async () => {
    const messages = [{ role: 'user' as const, content: 'hi' }]
    const unknown = openai.chat.completions.create({ model: 'gpt-9', messages })
    await expect(unknown).rejects.toThrow(/^400 No provider has the model 'openai:gpt-9'/)
    await expect(unknown).rejects.toMatchObject({ code: 'UNKNOWN_MODEL', type: 'ReferenceNotFound' })
    const call = { id: 'c', type: 'function' as const, function: { name: 'f', arguments: '[1' } }
    const wrong = openai.chat.completions.create({
      model: 'auto',
      messages: [...messages, { role: 'assistant', tool_calls: [call] }],
    })
    await expect(wrong).rejects.toThrow('messages.1.tool_calls: the arguments of a call must be a JSON object')
    await expect(openai.chat.completions.create({ model: 'auto', messages, n: 2 })).rejects.toThrow(/^400 n must be/)
    const strangers = new OpenAI({
      apiKey: 'no-token',
      baseURL: openai.baseURL,
      defaultHeaders: { 'x-bot-id': bot.id },
    })
    await expect(strangers.models.list()).rejects.toThrow(/^401 The token is missing or invalid/)
    expect(asked()).toEqual([])

    let broken: ScriptedStream
    endpoint.script = (response) => {
      broken = new ScriptedStream(response)
      broken.write('Once ')
    }
    const heard: string[] = []
    const read = async () => {
      for await (const { choices } of await openai.chat.completions.create({ model: 'auto', messages, stream: true })) {
        heard.push(choices[0]?.delta.content ?? '')
        if (choices[0]?.delta.content === 'Once ') broken.destroy()
      }
    }
    await expect(read()).rejects.toBeInstanceOf(OpenAIError)
    expect(heard.join('')).toBe('Once ')
  })

  describe('transcribes', () => {
    const audio = Buffer.from([0x49, 0x44, 0x33, 0, 13, 10, 45, 45, 0xff, 0xfb])
    const rates = { temperature: 0.5, avg_logprob: -0.2, compression_ratio: 1.1, no_speech_prob: 0.1 }
    const segments = [{ id: 0, start: 0, end: 1.5, text: 'Hello there.', seek: 0, tokens: [1], ...rates }]
    beforeEach(() => {
      const transcript = { text: 'Hello there.', duration: 90, language: 'english', segments }
      endpoint.script = (response) => answerWith(response, 200, JSON.stringify(transcript))
    })

    test('a file, whose type follows from its name where it has none', async () => {
      const file = await toFile(audio, 'voice.ogg')
      const { text, usage } = await openai.audio.transcriptions.create({
        file,
        model: 'local:small',
        language: 'en',
        prompt: 'Isobot',
        temperature: 0.25,
      })
      expect([text, usage]).toEqual(['Hello there.', { type: 'duration', seconds: 90 }])
      const [form] = asked()
      expect(form).toMatchObject({ model: 'small', language: 'en', prompt: 'Isobot', temperature: '0.25' })
      expect(form.file.type).toBe('audio/ogg')
      expect(Buffer.from(await form.file.arrayBuffer())).toEqual(audio)
    })

    test('as text, and with the times of segments', async () => {
      const file = await toFile(audio, 'voice.mp3', { type: 'audio/mpeg' })
      const given = { file, model: 'local:small' }
      expect(await openai.audio.transcriptions.create({ ...given, response_format: 'text' })).toBe('Hello there.')
      const verbose = await openai.audio.transcriptions.create({
        ...given,
        response_format: 'verbose_json',
        timestamp_granularities: ['segment'],
      })
      expect(verbose).toMatchObject({
        language: 'en',
        duration: 90,
        text: 'Hello there.',
        segments: [{ id: 0, start: 0, end: 1.5, text: 'Hello there.' }],
      })
      expect(asked().map(({ response_format: format }) => format)).toEqual([undefined, 'verbose_json'])
    })

    test('as subtitles, of models that give times', async () => {
      expect(await transcribe(audio, 'a.mp3', { response_format: 'srt' })).toBe(
        '1\n00:00:00,000 --> 00:00:01,500\nHello there.\n',
      )
      expect(await transcribe(audio, 'a.mp3', { response_format: 'vtt' })).toBe(
        'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nHello there.\n',
      )
      expect(asked().map(({ response_format: format }) => format)).toEqual(['verbose_json', 'verbose_json'])
      endpoint.script = (response) => answerWith(response, 200, JSON.stringify({ text: 'Hello there.' }))
      const refused = transcribe(audio, 'a.mp3', { response_format: 'srt' })
      await expect(refused).rejects.toMatchObject({ status: 400, type: 'InvalidPayload' })
      await expect(refused).rejects.toThrow('local:small gives no times, which srt and vtt need')
    })

    test('by the AI SDK too', async () => {
      const sdk = createOpenAI({ apiKey: platform.token, baseURL: openai.baseURL, headers: { 'x-bot-id': bot.id } })
      const providerOptions = { openai: { responseFormat: 'verbose_json' } }
      const given = { audio, mediaType: 'audio/mpeg', providerOptions }
      expect(await sdk.transcription('local:small').doGenerate(given)).toMatchObject({
        text: 'Hello there.',
        durationInSeconds: 90,
        language: 'en',
        segments: [{ startSecond: 0, endSecond: 1.5, text: 'Hello there.' }],
      })
    })

    test('up to 25 MB, and refuses what is no audio', async () => {
      const longest = Buffer.alloc(25 * 1024 * 1024, 7)
      expect((await transcribe(longest, 'long.wav')).text).toBe('Hello there.')
      expect(asked()[0].file.size).toBe(longest.length)
      endpoint.requests.length = 0
      await expect(transcribe(Buffer.concat([longest, audio]), 'long.wav')).rejects.toMatchObject({
        status: 413,
        type: 'LimitExceeded',
      })
      await expect(transcribe(Buffer.alloc(27 * 1024 * 1024), 'long.wav')).rejects.toMatchObject({ status: 413 })
      await expect(transcribe(audio, 'page.html')).rejects.toThrow('The media type text/html is none of audio')
      await expect(transcribe(Buffer.alloc(0), 'none.mp3')).rejects.toThrow('The audio is empty')
      await expect(transcribe(audio, 'a.mp3', { response_format: 'ass' })).rejects.toThrow(
        'response_format must be one of json, text, verbose_json, srt, vtt',
      )
      await expect(transcribe(audio, 'a.mp3', { stream: true })).rejects.toThrow('stream must be one of false')
      await expect(transcribe(audio, 'a.mp3', { model: 'whisper-1' })).rejects.toMatchObject({
        code: 'NO_MODEL_PROVIDER',
      })
      expect(asked()).toEqual([])
    })
  })

  test('is stopped by a used-up budget before anything is sent', async () => {
    const owner = await platform.createBot()
    const budget = { botId: owner.id, budget: { dayTokens: 0 } }
    expect((await platform.ask('PUT', '/v1/admin/models/budget', budget)).status).toBe(200)
    const poor = new OpenAI({
      apiKey: platform.token,
      baseURL: openai.baseURL,
      defaultHeaders: { 'x-bot-id': owner.id },
    })
    const refused = poor.chat.completions.create({ model: 'auto', messages: [{ role: 'user', content: 'hi' }] })
    await expect(refused).rejects.toMatchObject({ status: 402, code: 'MODEL_BUDGET_EXCEEDED' })
    expect(asked()).toEqual([])
  })
})

describe('the library of Anthropic', () => {
  const question = { model: 'local:large', max_tokens: 50 }

  test('gets an answer, and has the model call a tool', async () => {
    endpoint.script = (response, { body }) =>
      body.messages.length === 2 ? callWeather(response) : complete(response, { content: 'It rains.' })
    const tools = [{ name: 'weather', input_schema: { ...schema, type: 'object' as const } }]
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'The weather?' }]
    const given = { ...question, system: 'Be brief.', tools }
    const first = await anthropic.messages.create({ ...given, messages, tool_choice: { type: 'any' } })
    expect(first).toMatchObject({
      type: 'message',
      model: 'local:large',
      content: [{ type: 'tool_use', id: 'call1', name: 'weather', input: { city: 'Rome' } }],
      stop_reason: 'tool_use',
      usage: { input_tokens: 10, output_tokens: 5 },
    })
    messages.push(
      { role: 'assistant', content: first.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call1', content: 'rain' }] },
    )
    const second = await anthropic.messages.create({ ...given, messages })
    expect([second.content, second.stop_reason]).toEqual([
      [{ type: 'text', text: 'It rains.', citations: null }],
      'end_turn',
    ])
    expect(asked()[0]).toMatchObject({ model: 'large', max_tokens: 50, tool_choice: 'required' })
    expect(asked()[1].messages).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'The weather?' },
      { role: 'assistant', tool_calls: [{ id: 'call1' }] },
      { role: 'tool', tool_call_id: 'call1', content: 'rain' },
    ])
  })

  test('sends pictures, and reads a stream into the message that it makes', async () => {
    endpoint.script = stream
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: 'cG5n' }
    const content: Anthropic.ContentBlockParam[] = [
      { type: 'image', source },
      { type: 'text', text: 'Tell' },
    ]
    const read = anthropic.messages.stream({ ...question, messages: [{ role: 'user', content }] })
    const words: string[] = []
    read.on('text', (word) => words.push(word))
    expect(await read.finalMessage()).toMatchObject({
      content: [{ type: 'text', text: 'Über die Brücke' }],
      stop_reason: 'end_turn',
      usage: { output_tokens: 5 },
    })
    expect(words.join('')).toBe('Über die Brücke')
    const [picture] = asked()[0].messages[0].content
    expect(picture).toEqual({ type: 'image_url', image_url: { url: 'data:image/png;base64,cG5n' } })
  })

  test('reads the calls of tools in a stream', async () => {
    endpoint.script = (response) => {
      const calling = new ScriptedStream(response)
      calling.write('I look. ')
      calling.call('weather', { city: 'Rome' })
      calling.end('tool_calls')
    }
    const tools = [{ name: 'weather', input_schema: { ...schema, type: 'object' as const } }]
    const messages = [{ role: 'user' as const, content: 'The weather?' }]
    const { content } = await anthropic.messages.stream({ ...question, tools, messages }).finalMessage()
    expect(content).toMatchObject([
      { type: 'text', text: 'I look. ' },
      { type: 'tool_use', name: 'weather', input: { city: 'Rome' } },
    ])
  })

  test('throws its own errors', async () => {
    const messages = [{ role: 'user' as const, content: 'hi' }]
    const unknown = anthropic.messages.create({ ...question, model: 'claude-9', messages })
    await expect(unknown).rejects.toMatchObject({ status: 400, message: expect.stringContaining('anthropic:claude-9') })
    let broken: ScriptedStream
    endpoint.script = (response) => {
      broken = new ScriptedStream(response)
      broken.write('Once ')
    }
    const read = anthropic.messages.stream({ ...question, messages })
    read.on('text', () => broken.destroy())
    await expect(read.finalMessage()).rejects.toBeInstanceOf(AnthropicError)
  })
})

describe('the provider packages of the AI SDK', () => {
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hello' }] }]

  test('call models by either language', async () => {
    const headers = { 'x-bot-id': bot.id }
    const { url, token: apiKey } = platform
    const compatible = createOpenAICompatible({
      name: 'isobot',
      baseURL: `${url}/v2/cognitive/openai/v1`,
      apiKey,
      headers,
    })
    const one = await compatible('auto').doGenerate({ prompt })
    expect(one.content).toMatchObject([{ type: 'text', text: 'You said: hello' }])
    const hosted = createAnthropic({ baseURL: `${url}/v2/cognitive/anthropic/v1`, authToken: apiKey, headers })
    const other = await hosted('auto').doGenerate({ prompt })
    expect(other.content).toMatchObject([{ type: 'text', text: 'You said: hello' }])
  })
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '@botpress/client'
import { Cognitive, CognitiveBeta } from '@botpress/cognitive'
import { createChatUser } from '../../support/chat-client.ts'
import { answerWith, complete, ScriptedStream, startEndpoint, type ScriptedEndpoint } from '../../support/models.ts'
import { replies } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { bundleSdk } from '../../sdk/bundle.ts'

let endpoint: ScriptedEndpoint
let platform: Platform
const parts = new AsyncDisposableStack()
beforeAll(async () => {
  endpoint = parts.use(await startEndpoint())
  // The packages name models of the hosted providers, in place of which that of the operator answers.
  platform = parts.use(
    await openPlatform({ environment: { ...endpoint.environment, MODELS_SUBSTITUTE: 'local:large' } }),
  )
})
afterAll(() => parts.disposeAsync())

test('both published generations of the client, bundled unmodified, get answers in the isolate, by either path', async () => {
  const bot = await platform.createBot(await bundleSdk('cognitive-bot.ts'))
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, 'hello')
  await expect
    .poll(() => replies(platform, conversationId), { timeout: 20_000 })
    .toEqual([[0, 1, 2].map((index) => `You said: hello ${index} (10 tokens)`).join(', ')])
  expect(endpoint.requests.map(({ body }) => [body.model, body.messages[0].content])).toEqual([
    ['large', 'Be brief.'],
    ['large', 'Be brief.'],
    ['large', 'Be brief.'],
  ])
})

test('both published generations of the client read streams of models in the isolate', async () => {
  const { script } = endpoint
  endpoint.script = (response) => {
    const stream = new ScriptedStream(response)
    for (const piece of ['Über ', 'die ', 'Brücke']) stream.write(piece)
    stream.end()
  }
  const bot = await platform.createBot(await bundleSdk('cognitive-stream-bot.ts'))
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, 'hello')
  await expect
    .poll(() => replies(platform, conversationId), { timeout: 20_000 })
    .toEqual(['Über die Brücke (5 tokens), Über die Brücke (5 tokens)'])
  endpoint.script = script
})

test('the published client over HTTP lists models, gets answers, and repeats no call that the platform has repeated', async () => {
  const bot = await platform.createBot()
  const client = new CognitiveBeta({ apiUrl: platform.url, token: platform.token, botId: bot.id })
  expect((await client.listModels()).map(({ id }) => id)).toEqual(['local:small', 'local:large'])
  const { output, metadata } = await client.generateText({ messages: [{ role: 'user', content: 'hi' }] })
  expect([output, metadata.provider, metadata.stopReason]).toEqual(['You said: hi', 'local', 'stop'])
  endpoint.requests.length = 0
  endpoint.script = (response) => answerWith(response, 503, '{}')
  const failed = client.generateText({ messages: [{ role: 'user', content: 'hi' }] })
  await expect(failed).rejects.toMatchObject({ response: { status: 400, data: { type: 'Runtime' } } })
  expect(endpoint.requests).toHaveLength(2)
  endpoint.script = (response) => complete(response, { content: 'well again' })
  expect((await client.generateText({ messages: [{ role: 'user', content: 'hi' }] })).output).toBe('well again')
})

test('clients that ask integrations find the models of the platform, without a file of the bot', async () => {
  const bot = await platform.createBot()
  endpoint.script = (response, { body }) => complete(response, { content: `by ${body.model}` })
  const client = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.id })
  const { output, meta } = await new Cognitive({ client }).generateContent({
    model: 'openai:gpt-4.1-2025-04-14',
    messages: [{ role: 'user', content: 'hi' }],
  })
  expect(output.choices).toEqual([
    { role: 'assistant', type: 'text', content: 'by large', index: 0, stopReason: 'stop' },
  ])
  expect(meta.tokens).toEqual({ input: 10, output: 5 })
  const best = await new Cognitive({ client }).generateContent({
    model: 'best',
    messages: [{ role: 'user', content: '' }],
  })
  expect(best.output.choices[0]?.content).toBe('by small')
  expect((await client.listFiles({})).files).toEqual([])
  const { output: listed } = await client.callAction({ type: 'local:listLanguageModels', input: {} })
  expect(listed).toMatchObject({ models: [{ id: 'small' }, { id: 'large' }] })
})

test('tools of that interface reach the model, and bad input, unknown integrations and other files are refused', async () => {
  const bot = await platform.createBot()
  const client = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.id, retry: { retries: 0 } })
  const call = { id: 'c1', type: 'function', function: { name: 'find', arguments: '{"n":1}' } }
  endpoint.script = (response) => complete(response, { tool_calls: [call], finish_reason: 'tool_calls' })
  const { output } = await client.callAction({
    type: 'local:generateContent',
    input: {
      model: { id: 'small' },
      messages: [{ role: 'user', content: 'find 1' }],
      tools: [{ type: 'function', function: { name: 'find', argumentsSchema: { type: 'object' } } }],
      toolChoice: { type: 'any' },
      topP: 1,
      userId: 'u',
    },
  })
  expect(endpoint.requests.at(-1)!.body).toMatchObject({ model: 'small', tool_choice: 'required' })
  const found = { id: 'c1', type: 'function', function: { name: 'find', arguments: { n: 1 } } }
  expect(output).toMatchObject({ choices: [{ type: 'tool_calls', toolCalls: [found] }] })
  for (const [type, code] of [
    ['local:generateContent', 'InvalidPayload'],
    ['nowhere:generateContent', 'ReferenceNotFound'],
  ] as const) {
    await expect(client.callAction({ type, input: { messages: [] } })).rejects.toMatchObject({ type: code })
  }
  await expect(client.getFile({ id: 'bot->x->other.json' })).rejects.toMatchObject({ code: 404 })
})

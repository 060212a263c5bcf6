import { afterAll, beforeAll, expect, test } from 'vitest'
import { CognitiveBeta } from '@botpress/cognitive'
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

test('both published generations of the client, bundled unmodified, get answers of models in the isolate', async () => {
  const bot = await platform.createBot(await bundleSdk('cognitive-bot.ts'))
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, 'hello')
  await expect
    .poll(() => replies(platform, conversationId), { timeout: 20_000 })
    .toEqual(['You said: hello 0 (10 tokens), You said: hello 1 (10 tokens)'])
  expect(endpoint.requests.map(({ body }) => [body.model, body.messages[0].content])).toEqual([
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

import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createChatUser } from '../../support/chat-client.ts'
import { listen } from '../../support/event-stream.ts'
import { endedEvents } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { startTarget } from './fixture.ts'
import { bundleModelBot } from './models/bundle-model-bot.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ environment: { OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' } })
})
afterAll(() => platform[Symbol.asyncDispose]())

const words = ['Once ', 'upon ', 'a ', 'time']

/** The events of each provider's stream: the beginning with the first word, each other word, the end. */
interface Wire {
  path: string
  begin: string[]
  word(word: string): string
  end: string[]
}

const openAi: Wire = {
  path: '/v1/chat/completions',
  begin: [chunk({ role: 'assistant', content: '' })],
  word: (word) => chunk({ content: word }),
  end: [chunk({}, 'stop'), 'data: [DONE]\n\n'],
}

function chunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`
}

const anthropic: Wire = {
  path: '/v1/messages',
  begin: [
    named('message_start', {
      message: { id: 'm', type: 'message', role: 'assistant', content: [], model: 'm', usage: { input_tokens: 1 } },
    }),
    named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  ],
  word: (word) => named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: word } }),
  end: [
    named('content_block_stop', { index: 0 }),
    named('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } }),
    named('message_stop', {}),
  ],
}

function named(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
}

/** A provider that says the first word, and the others when it is told to go on. */
async function startProvider(wire: Wire) {
  const { promise: goOn, resolve } = Promise.withResolvers<void>()
  onTestFinished(() => resolve())
  const asked: unknown[] = []
  const progress = { hasEnded: false, isClosed: false }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    response.on('close', () => (progress.isClosed = true))
    asked.push([request.url, JSON.parse(await text(request))])
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const said of [...wire.begin, wire.word(words[0]!)]) response.write(said)
    await goOn
    progress.hasEnded = true
    for (const said of [...words.slice(1).map(wire.word), ...wire.end]) response.write(said)
    response.end()
  }
  const target = await startTarget((request, response) => void answer(request, response))
  onTestFinished(() => target[Symbol.asyncDispose]())
  return { url: target.url, asked, progress, goOn: resolve }
}

const libraries = [
  { library: 'openai', bot: 'openai', wire: openAi },
  { library: '@anthropic-ai/sdk', bot: 'anthropic', wire: anthropic },
]

/** Has somebody say something to the bot, and listens. */
async function talkTo(code: string) {
  const { body, status } = await platform.ask('POST', '/v1/admin/bots', {
    code,
    permissions: { net: ['127.0.0.1'] },
    limits: { cpuMilliseconds: 10_000, loadMilliseconds: 10_000 },
  })
  if (status !== 200) throw new Error(JSON.stringify(body))
  const { id, integrations } = body.bot
  const { webhookUrl: chatUrl } = integrations.chat
  const chatUser = await createChatUser(chatUrl, { id: 'alice' })
  await chatUser.createConversation('talk')
  const stream = await listen(chatUrl, chatUser.key, 'talk')
  onTestFinished(() => stream.close())
  // Parts of a message are for those who listen already.
  const conversation = (await platform.context.db('conversations').where({ bot_id: id }).first())!
  const welcome = { conversationId: conversation.id, type: 'text', payload: { text: 'welcome' } }
  await platform.ask('POST', '/v1/chat/messages', welcome, { 'x-bot-id': id })
  await expect.poll(stream.frames).toHaveLength(1)
  await chatUser.send('talk', 'Tell me a story')
  return {
    botId: id as string,
    deltas: () =>
      stream.frames().flatMap(({ type, data }) => (type === 'message_stream_delta' ? [data.delta as string] : [])),
    last: () => stream.frames().at(-1),
  }
}

describe.each(libraries)('a model that is asked with $library', ({ wire, bot }) => {
  test('is received from its first word on, while it goes on', { timeout: 60_000 }, async () => {
    const provider = await startProvider(wire)
    const { deltas, last, botId } = await talkTo(await bundleModelBot(bot, { providerUrl: provider.url }))
    await expect.poll(deltas, { timeout: 30_000 }).toEqual([words[0]])
    expect(provider.progress.hasEnded).toBe(false)
    provider.goOn()
    await expect.poll(() => last()?.data.payload?.text, { timeout: 10_000 }).toBe(words.join(''))
    expect(deltas().join('')).toBe(words.join(''))
    const [event] = await endedEvents(platform, botId, 1)
    expect(event).toMatchObject({ status: 'processed' })
    expect(provider.asked).toEqual([
      [wire.path, expect.objectContaining({ stream: true, messages: [{ role: 'user', content: 'Tell me a story' }] })],
    ])
  })

  test('is cancelled when its reader has ended', { timeout: 60_000 }, async () => {
    const provider = await startProvider(wire)
    const { deltas } = await talkTo(await bundleModelBot(bot, { providerUrl: provider.url, hearsOneWord: true }))
    await expect.poll(deltas, { timeout: 30_000 }).toEqual([words[0]])
    await expect.poll(() => provider.progress.isClosed, { timeout: 10_000 }).toBe(true)
    expect(provider.progress.hasEnded).toBe(false)
  })
})

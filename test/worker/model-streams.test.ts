import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { createChatUser, type ChatUser } from '../support/chat-client.ts'
import { listen } from '../support/event-stream.ts'
import { answerWith, ScriptedStream, startEndpoint, type ScriptedEndpoint } from '../support/models.ts'
import { endedEvents, replies } from '../support/outcomes.ts'
import { openPlatform, type DeployedBot, type Platform } from '../support/platform.ts'
import { Processes } from '../support/processes.ts'

const processes = new Processes()
let endpoint: ScriptedEndpoint
let platform: Platform
const parts = new AsyncDisposableStack()
beforeAll(async () => {
  endpoint = parts.use(await startEndpoint())
  platform = parts.use(await openPlatform({ environment: { ...endpoint.environment } }))
})
afterEach(() => processes.stop())
afterAll(() => parts.disposeAsync())

const botOf = (body: string) => `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const { conversationId } = event
      const say = (text) => client.createMessage({ conversationId, type: 'text', payload: { text } })
      const ask = (content = event.preview) => client.generateTextStream({ messages: [{ role: 'user', content }] })
      ${body}
    },
  }`

async function converse(body: string, on = platform) {
  const bot = await on.createBot(botOf(body))
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  return { bot, chatUser, conversationId }
}

async function said(body: string, text = 'hello'): Promise<string> {
  const { chatUser, conversationId } = await converse(body)
  await chatUser.send(conversationId, text)
  await expect.poll(() => replies(platform, conversationId), { timeout: 20_000 }).toHaveLength(1)
  return (await replies(platform, conversationId))[0]!
}

/** Listens to a conversation: parts of messages are for listeners whose stream has begun, so it waits for a first message. */
async function listenTo({ id, chatUrl }: DeployedBot, { key }: ChatUser, conversationId: string) {
  const stream = await listen(chatUrl, key, conversationId)
  const welcome = { conversationId, type: 'text', payload: { text: 'welcome' } }
  await platform.ask('POST', '/v1/chat/messages', welcome, { 'x-bot-id': id })
  await expect.poll(stream.frames).toHaveLength(1)
  return {
    deltas: () =>
      stream.frames().flatMap((frame) => (frame.type === 'message_stream_delta' ? [String(frame.data['delta'])] : [])),
    [Symbol.asyncDispose]: () => stream.close(),
  }
}

const collect = `
  const chunks = []
  for await (const chunk of ask()) chunks.push(chunk)
  const last = chunks.at(-1)
  await say(JSON.stringify([chunks.map(({ output }) => output).join(''), last.finished, last.metadata.usage.outputTokens]))`

test('code reads an answer in chunks, with characters and lines of any size', async () => {
  const long = 'ä😀'.repeat(30_000)
  endpoint.script = (response) => {
    const stream = new ScriptedStream(response)
    stream.write('Hello\n')
    stream.write(long)
    stream.end()
  }
  expect(JSON.parse(await said(collect))).toEqual([`Hello\n${long}`, true, 5])
})

test('an answer that ends within, or is refused before, is an error of the loop with the type of the API', async () => {
  endpoint.script = (response) => {
    const stream = new ScriptedStream(response)
    stream.write('begin')
    setTimeout(() => stream.destroy(), 30)
  }
  const caught = `
    let text = ''
    try {
      for await (const { output } of ask()) text += output
    } catch ({ name, type, code, message }) {
      await say([text, name, type, code, message].join(' | '))
    }`
  expect(await said(caught)).toMatch(/^begin \| .* \| Runtime \| 400 \| No model answered: .*broke off/)
})

test('a loop that ends early ends the call of the model, and so does the end of the event', async () => {
  const closed: string[] = []
  endpoint.script = (response, { body }) => {
    const stream = new ScriptedStream(response)
    stream.write('first')
    response.once('close', () => closed.push(body.messages.at(-1).content))
  }
  expect(await said(`for await (const { output } of ask('left')) { await say(output); break }`)).toBe('first')
  await expect.poll(() => closed).toEqual(['left'])
  const kept = `const kept = ask('kept'); await kept.next(); globalThis.kept = kept; await say('done')`
  expect(await said(kept)).toBe('done')
  await expect.poll(() => closed).toEqual(['left', 'kept'])
})

test('code passes words on to listeners; words that come together are one part, and all of them a message', async () => {
  const { promise, resolve } = Promise.withResolvers<ScriptedStream>()
  endpoint.script = (response) => resolve(new ScriptedStream(response))
  const { bot, chatUser, conversationId } = await converse(`
    const message = client.streamMessage(conversationId)
    for await (const { output } of ask()) await message.write(output)
    await message.end()`)
  await using listener = await listenTo(bot, chatUser, conversationId)
  await chatUser.send(conversationId, 'hello')
  const stream = await promise
  stream.write('first')
  const { deltas } = listener
  await expect.poll(deltas, { timeout: 10_000 }).toEqual(['first'])
  for (let word = 0; word < 200; word++) stream.write(` ${word}`)
  stream.end()
  await expect.poll(() => replies(platform, conversationId)).toHaveLength(2)
  const text = (await replies(platform, conversationId))[1]!
  expect(text).toMatch(/^first 0 1 2 .* 199$/)
  expect(deltas().join('')).toBe(text)
  expect(deltas().length).toBeLessThan(20)
})

const detailsOf = async (botId: string) => {
  const [event] = await endedEvents(platform, botId, 1)
  return (await platform.ask('GET', `/v1/admin/bots/${botId}/events/${event!.id}`)).body.event
}

test('a call is a step of the timeline with its model, tokens and first text, and its texts where the bot keeps them', async () => {
  endpoint.script = (response, { body }) => {
    if (body.messages.at(-1).content === 'fail') return answerWith(response, 500, '{}')
    const stream = new ScriptedStream(response)
    stream.write('the answer')
    stream.end()
  }
  const code = `
    const model = 'local:large'
    const messages = [{ role: 'user', content: 'the question' }]
    for await (const chunk of client.generateTextStream({ model, systemPrompt: 'Be brief.', messages }));
    await client.generateText({ model, messages: [{ role: 'user', content: 'fail' }] }).catch(() => {})
    await say('done')`
  const ask = async (fields: object) => {
    const bot = await platform.createBot(botOf(code), fields)
    const chatUser = await createChatUser(bot.chatUrl)
    await chatUser.send(await chatUser.createConversation(), 'hello')
    const { runs } = await detailsOf(bot.id)
    const steps = runs[0].steps.filter(({ model }: { model?: object }) => model)
    return { bot, chatUser, steps, calls: steps.map(({ model }: { model: object }) => model) }
  }
  const plain = await ask({})
  const first = { id: 'local:large', inputTokens: 10, outputTokens: 5, cost: 0, isReplayed: false }
  const failed = {
    id: 'local:large',
    inputTokens: 0,
    outputTokens: 0,
    cost: 0,
    isReplayed: false,
    failure: 'failed 500',
  }
  expect(plain.calls).toEqual([{ ...first, firstTextMilliseconds: expect.any(Number) }, failed])
  expect(plain.steps).toMatchObject([
    { kind: 'call', name: 'generateTextStream', status: 200 },
    { kind: 'call', name: 'generateText', status: 400 },
  ])

  const { bot, chatUser, calls } = await ask({ keepPrompts: true })
  expect(calls).toMatchObject([
    { ...first, prompt: 'system:\nBe brief.\n\nuser:\nthe question', answer: 'the answer' },
    { ...failed, prompt: 'user:\nfail', answer: '' },
  ])
  const [event] = await endedEvents(platform, bot.id, 1)
  const contents = () => platform.context.db('model_contents').where({ event_id: event!.id }).count()
  expect(await contents()).toEqual([{ count: '2' }])
  expect(await chatUser.ask('DELETE', '/users/me')).toMatchObject({ status: 200 })
  expect(await contents()).toEqual([{ count: '0' }])
  const { runs } = await detailsOf(bot.id)
  expect(runs[0].steps.findLast(({ model }: { model?: object }) => model).model).toEqual(failed)
})

test(
  'a worker killed after an answer: the next run gets the recorded one and asks no model, and asks again for the one that was cut',
  { timeout: 90_000 },
  async () => {
    await using own = await openPlatform({ worker: false, environment: endpoint.environment })
    endpoint.requests.length = 0
    const pending: ScriptedStream[] = []
    endpoint.script = (response, { body }) => {
      const stream = new ScriptedStream(response)
      const isSecond = body.messages.at(-1).content === 'second'
      stream.write(`${isSecond ? 'two' : 'one'} ${endpoint.requests.length}`)
      if (isSecond && pending.length === 0) pending.push(stream)
      else stream.end()
    }
    const body = `
      const text = async (question) => {
        let text = ''
        for await (const chunk of ask(question)) text += chunk.output
        return text
      }
      const first = await text('first')
      await say(first)
      await say(first + ', ' + await text('second'))`
    const victim = await processes.start(own, 'worker')
    const { bot, chatUser, conversationId } = await converse(body, own)
    await chatUser.send(conversationId, 'hello')
    await vi.waitFor(() => expect(pending).toHaveLength(1), { timeout: 30_000, interval: 20 })
    process.kill(victim.pid, 'SIGKILL')
    await processes.start(own, 'worker')
    await vi.waitFor(async () => expect(await replies(own, conversationId)).toHaveLength(2), { timeout: 50_000 })
    expect(await replies(own, conversationId)).toEqual(['one 1', 'one 1, two 3'])
    expect(endpoint.requests.map(({ body: { messages } }) => messages.at(-1).content)).toEqual([
      'first',
      'second',
      'second',
    ])
    const [event] = await endedEvents(own, bot.id, 1)
    expect(event).toMatchObject({ status: 'processed', attempt: 2 })
    const { body: shown } = await own.ask('GET', `/v1/admin/bots/${bot.id}/events/${event!.id}`)
    const calls = shown.event.runs[0].steps.filter(({ model }: { model?: object }) => model)
    expect(calls.map(({ model }: { model: { isReplayed: boolean } }) => model.isReplayed)).toEqual([true, false])
  },
)

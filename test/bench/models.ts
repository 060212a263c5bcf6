import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { BackEnd } from './back-ends.ts'
import { listenToStreams, startModelHost, type ModelHost } from './isobot.ts'
import type { Options } from './options.ts'
import { round, table } from './report.ts'
import type { Servers } from './servers.ts'
import { percentile } from './statistics.ts'

/** Calls of each kind, in turn. */
const calls = 300
const warmUp = 30
/** Streamed answers to a listening user. */
const answers = 100
/** Answers of many words, whose processor time is measured. */
const longAnswers = 5
const words = 1000

/** Pictures and speech, which are stored and then sent as they are stored. */
const media = 40
const pictureBytes = 1024 * 1024
const speechBytes = 100 * 1024

/** Upper bounds, in milliseconds. */
const aims = { firstByte: { p50: 5, p95: 15 }, firstToken: 50 }

interface Measured {
  backEnd: BackEnd
  /** Milliseconds until the first piece of an answer: asked directly, and through the gateway. */
  direct: number[]
  gateway: number[]
  /** Milliseconds from the provider's first word until a listening user has it. */
  firstToken: number[]
  /** Milliseconds of processor time in the isolate, of an answer of 1,000 words. */
  processor: number[]
  /** Milliseconds that the gateway adds to a whole picture, and to whole speech. */
  picture: number[]
  speech: number[]
}

/**
 * Measures streamed answers of a language model, at an endpoint in this process which answers at once: over HTTP beside a
 * direct call, to a user who listens, and in the isolate.
 */
export async function measureModels(servers: Servers, { backEnds }: Options): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const backEnd of backEnds) {
    await using parts = new AsyncDisposableStack()
    const provider = parts.use(await startProvider())
    const options = { servers, backEnd, conversations: 1, nodeOptions: [], parts }
    const host = await startModelHost(`models_on_${backEnd}`, options, {
      MODELS_URL: `${provider.url}/v1`,
      MODELS_NAMES: 'small',
      MODELS_PROVIDER: 'local',
    })
    measured.push({
      backEnd,
      ...(await measureFirstBytes(host, provider)),
      firstToken: await measureFirstTokens(host, provider),
      processor: await measureProcessor(host),
      picture: await measureMedia(host, provider, '/images/generations', { prompt: 'a lamp' }),
      speech: await measureMedia(host, provider, '/audio/speech', { input: 'Good morning', voice: 'nova' }),
    })
  }
  return measured
}

async function measureFirstBytes(host: ModelHost, { url }: Provider): Promise<{ direct: number[]; gateway: number[] }> {
  const messages = [{ role: 'user', content: 'one' }]
  const [direct, gateway]: number[][] = [[], []]
  for (let count = -warmUp; count < calls; count++) {
    const plain = await timeFirstByte(`${url}/v1/chat/completions`, {}, { model: 'small', messages, stream: true })
    const through = await timeFirstByte(`${host.url}/v2/cognitive/generate-text-stream`, host.headers, { messages })
    if (count < 0) continue
    direct!.push(plain)
    gateway!.push(through)
  }
  return { direct: direct!, gateway: gateway! }
}

/** Measures the time that the gateway adds to a call of OpenAI's API, in turn with direct calls. */
async function measureMedia(host: ModelHost, { url }: Provider, path: string, input: object): Promise<number[]> {
  const more: number[] = []
  const body = { model: 'small', ...input }
  for (let count = -5; count < media; count++) {
    const direct = await time(() => ask(`${url}/v1${path}`, {}, body))
    const through = await time(() =>
      ask(`${host.url}/v2/cognitive/openai/v1${path}`, host.headers, { ...body, model: 'local:small' }),
    )
    if (count >= 0) more.push(through - direct)
  }
  return more
}

async function time(call: () => Promise<Response>): Promise<number> {
  const begin = performance.now()
  await (await call()).arrayBuffer()
  return performance.now() - begin
}

/** Milliseconds until the first piece of an answer, which is then read to its end. */
async function timeFirstByte(address: string, headers: Record<string, string>, body: object): Promise<number> {
  const begin = performance.now()
  const response = await ask(address, headers, body)
  const reader = response.body!.getReader()
  await reader.read()
  const took = performance.now() - begin
  while (!(await reader.read()).done);
  return took
}

async function ask(address: string, headers: Record<string, string>, body: object): Promise<Response> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.status !== 200) throw new Error(`${address} answered ${response.status}: ${await response.text()}`)
  return response
}

const storyteller = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const message = client.streamMessage(event.conversationId)
      for await (const { output } of client.generateTextStream({ messages: [{ role: 'user', content: event.preview }] })) {
        await message.write(output)
      }
      await message.end()
    },
  }`

async function measureFirstTokens(host: ModelHost, provider: Provider): Promise<number[]> {
  const bot = await host.createBot(storyteller)
  const listening = await listenToStreams(bot)
  const times: number[] = []
  // Parts of messages reach streams that have begun: the first message shows that this one has.
  const first = listening.untilMessage()
  await bot.say('one')
  await first
  for (let count = -5; count < answers; count++) {
    const arrives = listening.untilDelta()
    const ends = listening.untilMessage()
    await bot.say('one')
    const took = (await arrives) - provider.sentAt
    await ends
    if (count >= 0) times.push(took)
  }
  return times
}

const reader = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      let text = ''
      for await (const { output } of client.generateTextStream({ messages: [{ role: 'user', content: event.preview }] })) {
        text += output
      }
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: String(text.length) } })
    },
  }`

async function measureProcessor(host: ModelHost): Promise<number[]> {
  const bot = await host.createBot(reader)
  const listening = await listenToStreams(bot)
  for (let count = 0; count <= longAnswers; count++) {
    const arrives = listening.untilMessage()
    await bot.say('many')
    await arrives
  }
  // The last event ends after its message.
  await pause(500)
  // The first event includes the preparation of the isolate.
  return (await bot.processorTimes()).slice(-longAnswers)
}

interface Provider extends AsyncDisposable {
  url: string
  /** When the last answer's first word was sent, by the clock of `performance`. */
  readonly sentAt: number
}

/** An OpenAI-compatible endpoint: `one` is answered with one word, `many` with 1,000, one each 2 ms; a picture and speech at once. */
async function startProvider(): Promise<Provider> {
  let sentAt = 0
  const answer = async (question: string, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (data: object) => response.write(`data: ${JSON.stringify({ id: 'c', ...data })}\n\n`)
    sentAt = performance.now()
    for (let word = 0; word < (question === 'many' ? words : 1); word++) {
      send({ choices: [{ index: 0, delta: { content: `word ${word} ` } }] })
      if (question === 'many') await pause(2)
    }
    send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
    send({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } })
    response.end('data: [DONE]\n\n')
  }
  const picture = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), randomBytes(pictureBytes)])
  const pictureAnswer = JSON.stringify({ created: 1, data: [{ b64_json: picture.toString('base64') }] })
  const speech = randomBytes(speechBytes)
  const server = createServer((request, response) => {
    if (request.url!.endsWith('/images/generations')) {
      return void request.resume().once('end', () => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(pictureAnswer)
      })
    }
    if (request.url!.endsWith('/audio/speech')) {
      return void request.resume().once('end', () => {
        response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(speech)
      })
    }
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (part: string) => (body += part))
    request.on('end', () => {
      const { messages } = JSON.parse(body) as { messages: { content: string }[] }
      void answer(messages.at(-1)!.content, response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get sentAt() {
      return sentAt
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
    },
  }
}

/** One line on the load. */
export function describeModels(): string {
  return (
    `Streamed answers of an endpoint that answers at once: ${calls} over HTTP, in turn with direct calls; ${answers} to a ` +
    `listening user; the processor time in the isolate of ${longAnswers} answers of ${words} words; and ${media} pictures of 1 MB and ` +
    `as many spoken texts of 100 KB, which are stored, in turn with direct calls`
  )
}

/** Makes the Markdown table. */
export function modelsTable(measured: Measured[]): string {
  return table(
    ['back end', 'measured', 'p50 ms', 'p95 ms', 'aim'],
    measured.flatMap(({ backEnd, direct, gateway, firstToken, processor, picture, speech }) => {
      const more = gateway.map((milliseconds, index) => milliseconds - direct[index]!)
      const { firstByte } = aims
      return [
        [backEnd, 'first byte, direct', ...middleAndLate(direct), ''],
        [backEnd, 'first byte, gateway', ...middleAndLate(gateway), ''],
        [backEnd, 'the gateway’s part', ...middleAndLate(more), `≤ ${firstByte.p50} and ${firstByte.p95}`],
        [backEnd, 'first word at the listener', ...middleAndLate(firstToken), `≤ ${aims.firstToken}`],
        [backEnd, `processor time of ${words} words`, ...middleAndLate(processor), ''],
        [backEnd, 'the gateway’s part of a picture', ...middleAndLate(picture), ''],
        [backEnd, 'the gateway’s part of speech', ...middleAndLate(speech), ''],
      ]
    }),
  )
}

function middleAndLate(times: number[]): [string, string] {
  const sorted = times.toSorted((a, b) => a - b)
  return [round(percentile(sorted, 50)), round(percentile(sorted, 95))]
}

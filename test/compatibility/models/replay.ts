import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** A question that was asked of a hosted service, and the answer that it gave. */
export interface Recording {
  texts: string[]
  /** The traits that distinguish questions with the same texts. */
  traits: Traits
  /** The answer, in the pieces of its stream. */
  pieces: string[]
  stopReason: string | undefined
  usage: { inputTokens: number; outputTokens: number }
}

/** The parts of a question beside its texts; a question without one has `undefined`. */
interface Traits {
  model?: string | undefined
  effort?: string | undefined
  maxTokens?: number | undefined
  temperature?: number | undefined
}

/** Counts of the questions so far. */
export interface ReplayCounts {
  replayed: number
  unknown: number
}

/** The OpenAI-compatible request, as far as it is read. */
interface ChatRequest {
  model: string
  messages: { content: string | { text?: string }[] | null }[]
  stream?: boolean
  reasoning_effort?: string
  max_tokens?: number
  temperature?: number
}

/** The instruction that the platform adds to questions for JSON. */
const jsonInstruction = 'Answer with one JSON value and nothing else.'

/** Wires differ in where a message ends, and in blanks between two instructions. */
function keyOf(texts: string[]): string {
  return texts.join('').replaceAll(jsonInstruction, '').replaceAll(/\s+/g, '')
}

function textsOf({ messages }: ChatRequest): string[] {
  return messages.flatMap(({ content }) =>
    typeof content === 'string' ? [content] : (content ?? []).map(({ text = '' }) => text),
  )
}

/**
 * The recording whose traits are most like those of a question: the last of them, since later ones replace earlier ones. One
 * without a text, of a failure, answers where there is no other.
 */
function nearest(recordings: Recording[], traits: Traits): Recording | undefined {
  const names = Object.keys(traits) as (keyof Traits)[]
  const likeness = ({ traits: recorded, pieces }: Recording) =>
    names.filter((name) => recorded[name] === traits[name]).length + (pieces.join('') === '' ? 0 : names.length)
  return recordings.toSorted((a, b) => likeness(a) - likeness(b)).at(-1)
}

/**
 * Starts an OpenAI-compatible endpoint that answers each recorded question with its recorded answer, and others with 404.
 *
 * @param parts stops it
 */
export async function startReplay(recordings: Recording[], parts: AsyncDisposableStack) {
  const byTexts = Map.groupBy(recordings, ({ texts }) => keyOf(texts))
  const counts: ReplayCounts = { replayed: 0, unknown: 0 }

  function answer(request: ChatRequest, response: ServerResponse): void {
    const found = nearest(byTexts.get(keyOf(textsOf(request))) ?? [], {
      model: request.model,
      effort: request.reasoning_effort,
      maxTokens: request.max_tokens,
      temperature: request.temperature,
    })
    counts[found ? 'replayed' : 'unknown'] += 1
    if (!found) sendJson(response, 404, { error: { message: 'There is no recording of it' } })
    else if (request.stream === true) sendStream(response, found)
    else {
      const message = { role: 'assistant', content: found.pieces.join('') }
      const choices = [{ index: 0, message, finish_reason: finishOf(found) }]
      sendJson(response, 200, { id: 'recorded', model: request.model, choices, usage: usageOf(found) })
    }
  }

  const server = createServer((request, response) => {
    void json(request).then((body) => answer(body as ChatRequest, response))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  parts.defer(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1`, counts }
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function sendStream(response: ServerResponse, recording: Recording): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (body: object) => void response.write(`data: ${JSON.stringify({ id: 'recorded', ...body })}\n\n`)
  for (const content of recording.pieces) send({ choices: [{ index: 0, delta: { content } }] })
  send({ choices: [{ index: 0, delta: {}, finish_reason: finishOf(recording) }] })
  send({ choices: [], usage: usageOf(recording) })
  response.end('data: [DONE]\n\n')
}

function finishOf({ stopReason }: Recording): string {
  return stopReason === 'max_tokens' ? 'length' : 'stop'
}

function usageOf({ usage: { inputTokens, outputTokens } }: Recording): object {
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens }
}

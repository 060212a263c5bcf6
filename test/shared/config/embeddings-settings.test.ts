import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '#shared/config/config.ts'

const least = { DATABASE_URL: 'postgres://localhost/isobot', ISOBOT_SECRET: 's'.repeat(32) }
const read = (environment: NodeJS.ProcessEnv) => readConfig({ ...least, ...environment }).embeddings

function problemsOf(environment: NodeJS.ProcessEnv): string {
  try {
    read(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return 'none'
}

test('without a model there are no vectors', () => {
  expect(read({ OPENAI_API_KEY: 'sk-1' })).toBeUndefined()
})

test('an endpoint of its own has its own key, and no provider pays', () => {
  expect(
    read({
      EMBEDDINGS_URL: 'http://e.example/v1/',
      EMBEDDINGS_MODEL: 'openai:small',
      EMBEDDINGS_KEY: 'k',
      OPENAI_API_KEY: 'sk-1',
    }),
  ).toEqual({ url: 'http://e.example/v1/embeddings', model: 'openai:small', key: 'k', memoryBytes: 64 * 1024 * 1024 })
})

test.each([
  [
    { OPENAI_API_KEY: 'sk-1', EMBEDDINGS_MODEL: 'openai:text-embedding-3-small' },
    { url: 'https://api.openai.com/v1/embeddings', key: 'sk-1', model: 'text-embedding-3-small', name: 'openai' },
  ],
  [
    { GOOGLE_GENERATIVE_AI_API_KEY: 'g', EMBEDDINGS_MODEL: 'google-ai:gemini-embedding-001' },
    {
      url: 'https://generativelanguage.googleapis.com/v1beta/openai/embeddings',
      key: 'g',
      model: 'gemini-embedding-001',
      name: 'google-ai',
    },
  ],
  [
    {
      MODELS_URL: 'http://127.0.0.1:11434/v1/',
      MODELS_NAMES: 'llama3.2',
      MODELS_PROVIDER: 'ollama',
      EMBEDDINGS_MODEL: 'ollama:nomic-embed-text:v1.5',
    },
    { url: 'http://127.0.0.1:11434/v1/embeddings', key: undefined, model: 'nomic-embed-text:v1.5', name: 'ollama' },
  ],
])('a model of a provider uses its address and key: %j', (environment, { name, ...expected }) => {
  const { url, key, model, provider } = read(environment)!
  expect({ url, key, model }).toEqual(expected)
  expect(provider?.name).toBe(name)
})

test.each([
  [{ EMBEDDINGS_URL: 'http://e.example/v1' }, /EMBEDDINGS_URL is set without EMBEDDINGS_MODEL/],
  [{ EMBEDDINGS_MODEL: 'text-embedding-3-small' }, /EMBEDDINGS_URL is not set/],
  [{ EMBEDDINGS_MODEL: 'openai:text-embedding-3-small' }, /no provider is called openai/],
  [{ EMBEDDINGS_MODEL: 'openai:', OPENAI_API_KEY: 'sk-1' }, /no provider is called openai/],
  [{ EMBEDDINGS_MODEL: 'anthropic:x', ANTHROPIC_API_KEY: 'sk-1' }, /the provider anthropic makes no vectors/],
  [
    { EMBEDDINGS_MODEL: 'openai:x', OPENAI_API_KEY: 'sk-1', EMBEDDINGS_KEY: 'k' },
    /EMBEDDINGS_KEY belongs to EMBEDDINGS_URL/,
  ],
])('settings that cannot work are refused: %j', (environment, problem) => {
  expect(problemsOf(environment)).toMatch(problem)
})

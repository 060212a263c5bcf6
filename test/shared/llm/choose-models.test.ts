import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '#shared/config/config.ts'
import { secretsOf } from '#shared/config/telemetry-settings.ts'
import { chooseModels, chooseMediaModels } from '#shared/llm/choose-models.ts'

const least = { DATABASE_URL: 'postgres://localhost/isobot', ISOBOT_SECRET: 's'.repeat(32) }
const settingsOf = (environment: NodeJS.ProcessEnv) => readConfig({ ...least, ...environment }).models
const idsOf = (environment: NodeJS.ProcessEnv, ...asked: string[]) =>
  chooseModels(settingsOf(environment), asked).candidates.map(({ id }) => id)

const transcribersOf = (environment: NodeJS.ProcessEnv, ...asked: string[]) =>
  chooseMediaModels(settingsOf(environment), 'transcription', asked).candidates.map(({ id }) => id)

const ollama = {
  MODELS_URL: 'http://127.0.0.1:11434/v1/',
  MODELS_NAMES: 'llama3.2, qwen3:8b',
  MODELS_PROVIDER: 'ollama',
}

test('without a provider every call is refused by name, with what the operator does', () => {
  expect(() => idsOf({}, 'auto')).toThrow(/OPENAI_API_KEY.*MODELS_URL/)
})

test('one variable is enough: each alias has a model of each provider, in order', () => {
  expect(idsOf({ OPENAI_API_KEY: 'key' }, 'auto')).toEqual(['openai:gpt-5-mini'])
  const both = { ...ollama, ANTHROPIC_API_KEY: 'key' }
  expect(idsOf(both, 'fast')).toEqual(['anthropic:claude-haiku-4-5', 'ollama:llama3.2'])
  expect(idsOf({ ...both, MODELS_FAST: 'ollama:qwen3:8b' }, 'fast', 'ollama:llama3.2')).toEqual([
    'ollama:qwen3:8b',
    'ollama:llama3.2',
  ])
})

test('an endpoint has the models that its operator names, a hosted provider all that are well-formed', () => {
  expect(() => idsOf(ollama, 'ollama:other')).toThrow('No provider has the model')
  expect(idsOf({ OPENAI_API_KEY: 'key' }, 'openai:ft-of-next-year')).toEqual(['openai:ft-of-next-year'])
  expect(() => idsOf({ OPENAI_API_KEY: 'key' }, 'openai:../files')).toThrow('No provider has the model')
})

test('a transcript is made by a usual model of a provider that has one, or by those that the operator names', () => {
  expect(transcribersOf({ OPENAI_API_KEY: 'key' }, 'best')).toEqual(['openai:gpt-4o-mini-transcribe'])
  const named = { ...ollama, OPENAI_API_KEY: 'key', MODELS_TRANSCRIPTION: 'ollama:qwen3:8b, openai:whisper-1' }
  expect(transcribersOf(named, 'auto')).toEqual(['ollama:qwen3:8b', 'openai:whisper-1'])
  expect(transcribersOf(named, 'openai:gpt-4o-transcribe')).toEqual(['openai:gpt-4o-transcribe'])
  expect(() => transcribersOf({ ANTHROPIC_API_KEY: 'key' }, 'auto')).toThrow(
    /no model that transcribes.*MODELS_TRANSCRIPTION/,
  )
  expect(() => transcribersOf(named, 'groq:whisper')).toThrow('No provider has the model')
})

test.each([
  [{ MODELS_URL: 'http://localhost/v1' }, 'MODELS_URL and MODELS_NAMES belong together'],
  [{ ...ollama, MODELS_TRANSCRIPTION: 'ollama:whisper' }, 'MODELS_TRANSCRIPTION names ollama:whisper'],
  [{ OPENAI_API_KEY: 'key', MODELS_BEST: 'anthropic:claude-opus-4-5' }, 'no provider is called anthropic'],
  [{ ...ollama, OPENAI_API_KEY: 'key', MODELS_PROVIDER: 'openai' }, 'MODELS_PROVIDER is openai'],
  [{ ...ollama, MODELS_URL: 'http://user:password@localhost/v1' }, 'MODELS_URL'],
])('settings that contradict each other are refused: %o', (environment, message) => {
  const read = () => readConfig({ ...least, ...environment })
  expect(read).toThrow(ConfigError)
  expect(read).toThrow(message)
})

test('the keys are secrets of the log', () => {
  const config = readConfig({ ...least, ...ollama, OPENAI_API_KEY: 'one', MODELS_API_KEY: 'two' })
  expect(secretsOf(config)).toEqual(expect.arrayContaining(['one', 'two']))
})

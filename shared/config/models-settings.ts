import type { Infer } from '../schema.ts'

/** The wires that providers of language models speak. */
export type ProviderKind = 'openai' | 'anthropic' | 'google' | 'compatible'

/** A provider of language models, with the operator's key or a workspace's own. */
export interface ModelProvider {
  /** The part of a model's name before the colon. */
  name: string
  kind: ProviderKind
  /** Where requests are sent, without a trailing slash. Only the operator chooses it. */
  url: string
  key?: string
  /** Whether the key is a workspace's own. */
  isOwn?: boolean
  /** The models that bots may use; absent: all of the provider. */
  models?: string[]
}

export const aliases = ['auto', 'fast', 'best'] as const
export type Alias = (typeof aliases)[number]

/** The uses of models beside text. */
export type MediaUse = 'transcription' | 'image' | 'speech'

export interface ModelsSettings {
  /** In order of preference. */
  providers: ModelProvider[]
  /** The hosted providers, for which a workspace may have keys of its own, with the addresses that the operator chose. */
  hosted: Pick<ModelProvider, 'name' | 'kind' | 'url'>[]
  /** The operator's choice of models, in order of fallback, as `provider:model`. */
  aliases: Partial<Record<Alias, string[]>>
  /** The operator's choice of models that write down speech, make pictures, and speak, as of an alias. */
  media: Partial<Record<MediaUse, string[]>>
  /** The model or alias that answers in place of a model that no provider has; absent: such a model is refused. */
  substitute?: string
  /** Upper bound of the time of one call, with its retries and fallbacks. */
  timeoutMilliseconds: number
  /** Upper bound of the time between two parts of a streamed answer. */
  idleMilliseconds: number
  /** Upper bound of the calls that one process makes of one provider at the same time. */
  maxConcurrent: number
  /** The same of all processes together; absent: there is no such bound. */
  maxConcurrentTotal?: number
  /** The operator's bounds of the usage of each workspace. */
  workspaceBudget: { dayTokens?: number; monthTokens?: number; dayDollars?: number; monthDollars?: number }
}

/** A base address. It has no credentials: they would be in errors and logs. */
const address = { type: 'string', pattern: '^https?://[^@?#\\s]+$' } as const
/** A provider's key. */
export const key = { type: 'string', pattern: '^[\\x21-\\x7e]{1,1000}$' } as const
const modelName = '[a-z][a-z0-9-]{0,31}:[A-Za-z0-9][\\w.:/-]{0,199}'
const modelList = { type: 'string', pattern: `^${modelName}(\\s*,\\s*${modelName})*$` } as const

export const modelsVariables = {
  OPENAI_API_KEY: key,
  OPENAI_BASE_URL: address,
  ANTHROPIC_API_KEY: key,
  ANTHROPIC_BASE_URL: address,
  GOOGLE_GENERATIVE_AI_API_KEY: key,
  GOOGLE_GENERATIVE_AI_BASE_URL: address,
  MODELS_URL: address,
  MODELS_API_KEY: key,
  MODELS_NAMES: { type: 'string', pattern: '^[A-Za-z0-9][\\w.:/-]{0,199}(\\s*,\\s*[A-Za-z0-9][\\w.:/-]{0,199})*$' },
  MODELS_PROVIDER: { type: 'string', pattern: '^[a-z][a-z0-9-]{0,31}$', default: 'local' },
  MODELS_AUTO: modelList,
  MODELS_FAST: modelList,
  MODELS_BEST: modelList,
  MODELS_TRANSCRIPTION: modelList,
  MODELS_IMAGE: modelList,
  MODELS_SPEECH: modelList,
  MODELS_SUBSTITUTE: { type: 'string', pattern: `^(${aliases.join('|')}|${modelName})$` },
  // Node's client waits five minutes for the head of an answer, which comes when the model has ended.
  MODELS_SECONDS: { type: 'integer', minimum: 1, maximum: 290, default: 120 },
  MODELS_IDLE_SECONDS: { type: 'integer', minimum: 1, maximum: 290, default: 30 },
  MODELS_CONCURRENCY: { type: 'integer', minimum: 1, maximum: 10_000, default: 32 },
  MODELS_CONCURRENCY_TOTAL: { type: 'integer', minimum: 1, maximum: 10_000 },
  MODELS_DAY_TOKENS: { type: 'integer', minimum: 0, maximum: 1e15 },
  MODELS_MONTH_TOKENS: { type: 'integer', minimum: 0, maximum: 1e15 },
  MODELS_DAY_DOLLARS: { type: 'number', minimum: 0, maximum: 1e9 },
  MODELS_MONTH_DOLLARS: { type: 'number', minimum: 0, maximum: 1e9 },
} as const

const base = 'set it to a base address without credentials, for instance'
const list =
  'set it to names of models in order of preference, for instance openai:gpt-5-mini,anthropic:claude-haiku-4-5'

export const modelsRemedies: Record<string, string> = {
  OPENAI_BASE_URL: `${base} https://api.openai.com/v1`,
  ANTHROPIC_BASE_URL: `${base} https://api.anthropic.com/v1`,
  GOOGLE_GENERATIVE_AI_BASE_URL: `${base} https://generativelanguage.googleapis.com/v1beta`,
  MODELS_URL: `${base} http://127.0.0.1:11434/v1`,
  MODELS_NAMES: 'set it to the names of the endpoint’s models, for instance llama3.2,qwen3:8b',
  MODELS_PROVIDER: 'set it to the name of the endpoint in names of models, for instance ollama',
  MODELS_AUTO: list,
  MODELS_FAST: list,
  MODELS_BEST: list,
  MODELS_TRANSCRIPTION:
    'set it to names of models that transcribe, in order of preference, for instance openai:whisper-1,local:whisper',
  MODELS_IMAGE:
    'set it to names of models that make pictures, in order of preference, for instance openai:gpt-image-1-mini',
  MODELS_SPEECH: 'set it to names of models that speak, in order of preference, for instance openai:tts-1,local:kokoro',
  MODELS_SUBSTITUTE: 'set it to auto, fast, best or the name of a model, for instance ollama:llama3.2',
  MODELS_SECONDS: 'set it to the seconds that one call of a model may take, 1 to 290',
  MODELS_IDLE_SECONDS: 'set it to the seconds for which a model may pause within an answer, 1 to 290',
  MODELS_DAY_TOKENS: 'set it to the tokens that the bots of a workspace may use in a day, for instance 1000000',
  MODELS_MONTH_TOKENS: 'set it to the tokens that the bots of a workspace may use in a month, for instance 10000000',
  MODELS_DAY_DOLLARS: 'set it to the US dollars that the bots of a workspace may cost in a day, for instance 5',
  MODELS_MONTH_DOLLARS: 'set it to the US dollars that the bots of a workspace may cost in a month, for instance 50',
  MODELS_CONCURRENCY: 'set it to the calls that one process may make of one provider at the same time, for instance 32',
  MODELS_CONCURRENCY_TOTAL:
    'set it to the calls that all processes together may make of one provider at the same time, for instance 64',
}

const schema = { type: 'object', required: [], properties: modelsVariables } as const

export type ModelsVariables = Partial<Infer<typeof schema>>
type Given = ModelsVariables

/** The settings. Without any provider they are complete too: calls of models are then refused. */
export function readModels(given: Given): { models: ModelsSettings } {
  const names = { MODELS_AUTO: 'auto', MODELS_FAST: 'fast', MODELS_BEST: 'best' } as const
  const chosen = Object.entries(names).flatMap(([variable, alias]) => {
    const models = given[variable as keyof typeof names]
    return models === undefined ? [] : [[alias, listOf(models)]]
  })
  return {
    models: {
      providers: providersOf(given),
      hosted: hostedOf(given).map(({ name, kind, url }) => ({ name, kind, url })),
      aliases: Object.fromEntries(chosen) as ModelsSettings['aliases'],
      media: {
        ...(given.MODELS_TRANSCRIPTION !== undefined && { transcription: listOf(given.MODELS_TRANSCRIPTION) }),
        ...(given.MODELS_IMAGE !== undefined && { image: listOf(given.MODELS_IMAGE) }),
        ...(given.MODELS_SPEECH !== undefined && { speech: listOf(given.MODELS_SPEECH) }),
      },
      ...(given.MODELS_SUBSTITUTE !== undefined && { substitute: given.MODELS_SUBSTITUTE }),
      timeoutMilliseconds: (given.MODELS_SECONDS ?? modelsVariables.MODELS_SECONDS.default) * 1000,
      idleMilliseconds: (given.MODELS_IDLE_SECONDS ?? modelsVariables.MODELS_IDLE_SECONDS.default) * 1000,
      maxConcurrent: given.MODELS_CONCURRENCY ?? modelsVariables.MODELS_CONCURRENCY.default,
      ...(given.MODELS_CONCURRENCY_TOTAL !== undefined && { maxConcurrentTotal: given.MODELS_CONCURRENCY_TOTAL }),
      workspaceBudget: {
        ...(given.MODELS_DAY_TOKENS !== undefined && { dayTokens: given.MODELS_DAY_TOKENS }),
        ...(given.MODELS_MONTH_TOKENS !== undefined && { monthTokens: given.MODELS_MONTH_TOKENS }),
        ...(given.MODELS_DAY_DOLLARS !== undefined && { dayDollars: given.MODELS_DAY_DOLLARS }),
        ...(given.MODELS_MONTH_DOLLARS !== undefined && { monthDollars: given.MODELS_MONTH_DOLLARS }),
      },
    },
  }
}

/** The names of the hosted providers. */
export const hostedProviders = ['openai', 'anthropic', 'google-ai'] as const
export type HostedProvider = (typeof hostedProviders)[number]

function hostedOf(given: Given): { name: HostedProvider; kind: ProviderKind; url: string; key?: string }[] {
  const hosted = [
    ['openai', 'openai', given.OPENAI_API_KEY, given.OPENAI_BASE_URL ?? 'https://api.openai.com/v1'],
    ['anthropic', 'anthropic', given.ANTHROPIC_API_KEY, given.ANTHROPIC_BASE_URL ?? 'https://api.anthropic.com/v1'],
    [
      'google-ai',
      'google',
      given.GOOGLE_GENERATIVE_AI_API_KEY,
      given.GOOGLE_GENERATIVE_AI_BASE_URL ?? 'https://generativelanguage.googleapis.com/v1beta',
    ],
  ] as const
  return hosted.map(([name, kind, key, url]) => ({
    name,
    kind,
    url: withoutSlash(url),
    ...(key !== undefined && { key }),
  }))
}

function providersOf(given: Given): ModelProvider[] {
  const providers: ModelProvider[] = hostedOf(given).filter(({ key }) => key !== undefined)
  const { MODELS_URL: url, MODELS_NAMES: models, MODELS_API_KEY: key } = given
  if (url === undefined || models === undefined) return providers
  const name = given.MODELS_PROVIDER ?? modelsVariables.MODELS_PROVIDER.default
  return [
    ...providers,
    { name, kind: 'compatible', url: withoutSlash(url), models: listOf(models), ...(key !== undefined && { key }) },
  ]
}

/** The operator's provider of a model; absent when there is none. @param model `provider:model` */
export function findProvider(given: ModelsVariables, model: string): ModelProvider | undefined {
  return providersOf(given).find(({ name }) => model.startsWith(`${name}:`) && model.length > name.length + 1)
}

/** One sentence for each setting that has no effect without another one, or that names what does not exist. */
export function modelsContradictions(given: Given): string[] {
  const problems: string[] = []
  if ((given.MODELS_URL === undefined) !== (given.MODELS_NAMES === undefined)) {
    problems.push('MODELS_URL and MODELS_NAMES belong together: set both, or none')
  }
  const providers = providersOf(given)
  const names = providers.map(({ name }) => name)
  if (new Set(names).size < names.length) {
    problems.push(`MODELS_PROVIDER is ${names.at(-1)}, which has a key of its own: choose another name`)
  }
  const naming = [
    'MODELS_AUTO',
    'MODELS_FAST',
    'MODELS_BEST',
    'MODELS_TRANSCRIPTION',
    'MODELS_IMAGE',
    'MODELS_SPEECH',
    'MODELS_SUBSTITUTE',
  ] as const
  for (const variable of naming) {
    for (const model of listOf(given[variable] ?? '')) {
      const [provider = ''] = model.split(':', 1)
      const served = providers.find(({ name }) => name === provider)?.models
      if (served && !served.includes(model.slice(provider.length + 1))) {
        problems.push(`${variable} names ${model}, which is not among MODELS_NAMES: add it there, or set another model`)
      } else if (!names.includes(provider) && !(aliases as readonly string[]).includes(model)) {
        problems.push(
          `${variable} names ${model}, and no provider is called ${provider}: set its key, or another model`,
        )
      }
    }
  }
  return problems
}

function listOf(text: string): string[] {
  return text.split(',').flatMap((entry) => entry.trim() || [])
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

import type { Alias, ModelProvider, ProviderKind } from '../config/models-settings.ts'
import type { LanguageModel } from '../models/language-model.ts'
import { listedMediaModels } from './media-catalogue.ts'

/** Known facts about a model. The prices are those of spring 2026, in US dollars for a million tokens. */
interface KnownModel {
  name: string
  /** Tokens of the context and of an answer. */
  maxTokens: readonly [input: number, output: number]
  price: readonly [input: number, output: number]
  tags: readonly string[]
}

const model = (
  name: string,
  maxTokens: KnownModel['maxTokens'],
  price: KnownModel['price'],
  ...tags: string[]
): KnownModel => ({ name, maxTokens, price, tags: ['vision', 'function-calling', ...tags] })

/**
 * The models that are listed and priced. A hosted provider has more: a model that is not here can be used, and its cost
 * is unknown.
 */
const known: Record<Exclude<ProviderKind, 'compatible'>, Record<string, KnownModel>> = {
  openai: {
    'gpt-5.4': model('GPT-5.4', [1_047_576, 128_000], [2.5, 15], 'recommended', 'reasoning', 'coding', 'agents'),
    'gpt-5.4-mini': model('GPT-5.4 Mini', [272_000, 128_000], [0.75, 4.5], 'reasoning', 'general-purpose'),
    'gpt-5.4-nano': model('GPT-5.4 Nano', [272_000, 128_000], [0.2, 1.25], 'reasoning', 'low-cost'),
    'gpt-5.2': model('GPT-5.2', [272_000, 128_000], [1.75, 14], 'reasoning', 'general-purpose'),
    'gpt-5.1': model('GPT-5.1', [272_000, 128_000], [1.25, 10], 'reasoning', 'general-purpose'),
    'gpt-5': model('GPT-5', [272_000, 128_000], [1.25, 10], 'reasoning', 'general-purpose'),
    'gpt-5-mini': model('GPT-5 Mini', [272_000, 128_000], [0.25, 2], 'recommended', 'reasoning', 'general-purpose'),
    'gpt-5-nano': model('GPT-5 Nano', [272_000, 128_000], [0.05, 0.4], 'reasoning', 'low-cost'),
    'gpt-4.1': model('GPT-4.1', [1_047_576, 32_768], [2, 8], 'general-purpose'),
    'gpt-4.1-mini': model('GPT-4.1 Mini', [1_047_576, 32_768], [0.4, 1.6], 'general-purpose', 'low-cost'),
    'gpt-4.1-nano': model('GPT-4.1 Nano', [1_047_576, 32_768], [0.1, 0.4], 'low-cost'),
    'gpt-4o': model('GPT-4o', [128_000, 16_384], [2.5, 10], 'general-purpose'),
    'gpt-4o-mini': model('GPT-4o Mini', [128_000, 16_384], [0.15, 0.6], 'general-purpose', 'low-cost'),
    o3: model('o3', [200_000, 100_000], [2, 8], 'reasoning'),
    'o4-mini': model('o4-mini', [200_000, 100_000], [1.1, 4.4], 'reasoning'),
  },
  anthropic: {
    'claude-opus-4-6': model('Claude Opus 4.6', [200_000, 128_000], [5, 25], 'recommended', 'reasoning', 'coding'),
    'claude-sonnet-4-6': model('Claude Sonnet 4.6', [200_000, 64_000], [3, 15], 'recommended', 'reasoning', 'coding'),
    'claude-opus-4-5': model('Claude Opus 4.5', [200_000, 64_000], [5, 25], 'reasoning', 'coding'),
    'claude-sonnet-4-5': model('Claude Sonnet 4.5', [200_000, 64_000], [3, 15], 'reasoning', 'coding'),
    'claude-haiku-4-5': model('Claude Haiku 4.5', [200_000, 64_000], [1, 5], 'general-purpose', 'low-cost'),
    'claude-opus-4-1': model('Claude Opus 4.1', [200_000, 32_000], [15, 75], 'reasoning', 'coding'),
  },
  google: {
    'gemini-2.5-pro': model('Gemini 2.5 Pro', [1_048_576, 65_536], [1.25, 10], 'recommended', 'reasoning'),
    'gemini-2.5-flash': model('Gemini 2.5 Flash', [1_048_576, 65_536], [0.3, 2.5], 'recommended', 'general-purpose'),
    'gemini-2.5-flash-lite': model('Gemini 2.5 Flash-Lite', [1_048_576, 65_536], [0.1, 0.4], 'low-cost'),
  },
}

/** The models behind the aliases where the operator has not chosen others. */
const usual: Record<Exclude<ProviderKind, 'compatible'>, Record<Alias, string>> = {
  openai: { auto: 'gpt-5-mini', fast: 'gpt-4.1-nano', best: 'gpt-5.4' },
  anthropic: { auto: 'claude-sonnet-4-6', fast: 'claude-haiku-4-5', best: 'claude-opus-4-6' },
  google: { auto: 'gemini-2.5-flash', fast: 'gemini-2.5-flash-lite', best: 'gemini-2.5-pro' },
}

/** The model of a provider behind an alias: that of an endpoint of the operator's is its first. */
export function usualModel({ kind, models }: ModelProvider, alias: Alias): string {
  return kind === 'compatible' ? models![0]! : usual[kind][alias]
}

/** The assumed facts of a model without known ones, as published clients assume them. */
const assumed = { maxTokens: [128_000, 8192], price: [0, 0], tags: [] } as const

/** The facts about a model. A dated name, such as `gpt-4.1-2025-04-14`, is that of the model without the date. */
function factsOf(kind: ProviderKind, id: string): Omit<KnownModel, 'name'> & { name?: string } {
  const models: Record<string, KnownModel> = kind === 'compatible' ? {} : known[kind]
  const undated = id.replace(/-(\d{4}-\d\d-\d\d|\d{8}|latest)$/, '')
  const name = [id, undated].find((each) => Object.hasOwn(models, each))
  return name === undefined ? assumed : models[name]!
}

/**
 * The price of a model's tokens, in US dollars for a million. A hosted model without a known price costs as the dearest of
 * its provider, so that no name is outside of budgets; those of an endpoint of the operator's own cost 0.
 */
export function priceOf(kind: ProviderKind, id: string): { input: number; output: number } {
  const facts = factsOf(kind, id)
  if (facts.name === undefined && kind !== 'compatible') return dearestOf(kind)
  const [input, output] = facts.price
  return { input, output }
}

function dearestOf(kind: Exclude<ProviderKind, 'compatible'>): { input: number; output: number } {
  const prices = Object.values<KnownModel>(known[kind]).map(({ price }) => price)
  return { input: Math.max(...prices.map(([input]) => input)), output: Math.max(...prices.map(([, output]) => output)) }
}

/** The prices of models that make vectors, in US dollars for a million tokens. */
const vectorPrices: Record<Exclude<ProviderKind, 'compatible'>, Record<string, number>> = {
  openai: { 'text-embedding-3-small': 0.02, 'text-embedding-3-large': 0.13, 'text-embedding-ada-002': 0.1 },
  anthropic: {},
  google: { 'gemini-embedding-001': 0.15, 'text-embedding-004': 0.15 },
}

/** The price of the tokens of texts whose vectors a model makes, as `priceOf`. */
export function vectorPriceOf(kind: ProviderKind, id: string): number {
  if (kind === 'compatible') return 0
  return vectorPrices[kind][id] ?? Math.max(...Object.values(vectorPrices[kind]))
}

/** The most tokens of an answer of a model. */
export function maxAnswerOf(kind: ProviderKind, id: string): number {
  return kind === 'compatible' ? Infinity : factsOf(kind, id).maxTokens[1]
}

/** The models of a provider that are listed. Bots may use further ones of a hosted provider. */
export function listedModels(provider: ModelProvider): LanguageModel[] {
  const { kind, models } = provider
  if (kind === 'compatible') return models!.map((id) => listed(provider, id))
  return [...Object.keys(known[kind]).map((id) => listed(provider, id)), ...listedMediaModels(provider)]
}

function listed({ name: provider, kind }: ModelProvider, id: string): LanguageModel {
  const { name = id, maxTokens, price, tags } = factsOf(kind, id)
  const hasFacts = kind !== 'compatible'
  return {
    id: `${provider}:${id}`,
    name,
    description: hasFacts ? `${name}, served by ${provider}.` : `${name}, at the operator’s endpoint.`,
    aliases: [],
    tags: [...tags],
    input: { maxTokens: maxTokens[0], costPer1MTokens: price[0] },
    output: { maxTokens: maxTokens[1], costPer1MTokens: price[1] },
    lifecycle: 'production',
    capabilities: {
      supportsImages: tags.includes('vision'),
      supportsAudio: false,
      supportsTranscription: false,
      supportsSearch: false,
    },
  }
}

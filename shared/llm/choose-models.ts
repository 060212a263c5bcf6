import {
  aliases,
  type Alias,
  type MediaUse,
  type ModelProvider,
  type ModelsSettings,
} from '../config/models-settings.ts'
import { ApiError } from '../errors.ts'
import type { ModelWarning } from '../models/language-model.ts'
import { usualModel } from './catalogue.ts'
import { usualMediaModel } from './media-catalogue.ts'
import { toStorable } from '../models/storable.ts'

/** A model that may answer a call. */
export interface Candidate {
  provider: ModelProvider
  /** The provider's name of the model. */
  model: string
  /** `provider:model`. */
  id: string
}

/** The models of one call, in order of preference. */
export interface Choice {
  candidates: Candidate[]
  warnings: ModelWarning[]
}

const maxCandidates = 5

/** A name becomes part of the address of some providers, so it has no characters that change a path. */
const hostedModel = /^[A-Za-z0-9][\w.-]{0,199}$/

/**
 * Chooses the models that may answer a call.
 *
 * @param asked names of models or aliases, in order of preference
 * @throws ApiError `Runtime` without a provider, `ReferenceNotFound` when no provider has any of the models
 */
export function chooseModels(settings: ModelsSettings, asked: readonly string[]): Choice {
  if (settings.providers.length === 0) throw noProvider()
  const choice = choose(settings, asked, (alias) => modelsOf(settings, alias))
  if (choice.candidates.length === 0) throw noSuchModel(settings, asked)
  return choice
}

/**
 * Chooses the models of a use beside text, as `chooseModels`. All aliases are the same models.
 *
 * @throws ApiError as `chooseModels`
 */
export function chooseMediaModels(settings: ModelsSettings, use: MediaUse, asked: readonly string[]): Choice {
  const usual = mediaModelsOf(settings, use)
  const choice = choose(settings, asked, () => usual)
  if (choice.candidates.length > 0) return choice
  throw usual.length === 0 ? noMediaModel(use) : noSuchModel(settings, asked)
}

/** @param modelsOfAlias the models that an alias stands for */
function choose(settings: ModelsSettings, asked: readonly string[], modelsOfAlias: ModelsOfAlias): Choice {
  const warnings: ModelWarning[] = []
  const candidates = new Map<string, Candidate>()
  for (const name of asked) {
    let found = resolve(settings, name, modelsOfAlias)
    if (found.length === 0 && settings.substitute !== undefined) {
      found = resolve(settings, settings.substitute, modelsOfAlias)
      if (found[0])
        warnings.push({
          type: 'fallback_used',
          message: `${toStorable(name)} is not available: ${found[0].id} is used`,
        })
    }
    for (const candidate of found) candidates.set(candidate.id, candidate)
  }
  return { candidates: [...candidates.values()].slice(0, maxCandidates), warnings }
}

/** The models that an alias stands for. */
export function modelsOf(settings: ModelsSettings, alias: Alias): Candidate[] {
  const chosen = settings.aliases[alias]
  if (chosen) return chosen.flatMap((name) => find(settings, name) ?? [])
  return settings.providers.map((provider) => toCandidate(provider, usualModel(provider, alias)))
}

/** The models of a use beside text, unless a call names others. */
export function mediaModelsOf(settings: ModelsSettings, use: MediaUse): Candidate[] {
  const chosen = settings.media[use]
  if (chosen) return chosen.flatMap((name) => find(settings, name) ?? [])
  return settings.providers.flatMap((provider) => {
    const model = usualMediaModel(use, provider.kind)
    return model === undefined ? [] : [toCandidate(provider, model)]
  })
}

type ModelsOfAlias = (alias: Alias) => Candidate[]

function resolve(settings: ModelsSettings, name: string, modelsOfAlias: ModelsOfAlias): Candidate[] {
  if ((aliases as readonly string[]).includes(name)) return modelsOfAlias(name as Alias)
  const candidate = find(settings, name)
  return candidate ? [candidate] : []
}

function find({ providers }: ModelsSettings, name: string): Candidate | undefined {
  const colon = name.indexOf(':')
  const model = name.slice(colon + 1)
  const provider = providers.find((each) => each.name === name.slice(0, colon))
  if (!provider) return undefined
  const isServed = provider.models ? provider.models.includes(model) : hostedModel.test(model)
  return isServed ? toCandidate(provider, model) : undefined
}

function toCandidate(provider: ModelProvider, model: string): Candidate {
  return { provider, model, id: `${provider.name}:${model}` }
}

function noProvider(): ApiError {
  return new ApiError(
    'Runtime',
    'This platform has no provider of language models: its operator sets OPENAI_API_KEY, ANTHROPIC_API_KEY or ' +
      'GOOGLE_GENERATIVE_AI_API_KEY, or MODELS_URL and MODELS_NAMES for an OpenAI-compatible endpoint such as Ollama',
    { metadata: { subtype: 'NO_MODEL_PROVIDER' } },
  )
}

/** The task of the models of a use, the keys of providers that have some, and the setting for others. */
const uses: Record<MediaUse, { does: string; keys: string; setting: string }> = {
  transcription: { does: 'transcribes', keys: 'OPENAI_API_KEY', setting: 'MODELS_TRANSCRIPTION' },
  image: { does: 'makes pictures', keys: 'OPENAI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY', setting: 'MODELS_IMAGE' },
  speech: { does: 'speaks', keys: 'OPENAI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY', setting: 'MODELS_SPEECH' },
}

function noMediaModel(use: MediaUse): ApiError {
  const { does, keys, setting } = uses[use]
  return new ApiError(
    'Runtime',
    `This platform has no model that ${does}: its operator sets ${keys}, or ${setting} to a model of another provider`,
    { metadata: { subtype: 'NO_MODEL_PROVIDER' } },
  )
}

function noSuchModel(settings: ModelsSettings, asked: readonly string[]): ApiError {
  const names = settings.providers.map(({ name }) => name).join(', ')
  return new ApiError(
    'ReferenceNotFound',
    `No provider has the model ${asked.map((name) => `'${name}'`).join(' or ')}: listModels lists models of ${names}; ` +
      'auto, fast and best always exist',
    { metadata: { subtype: 'UNKNOWN_MODEL' } },
  )
}

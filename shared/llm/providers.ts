import type { ImageModelV4, LanguageModelV4, SpeechModelV4, TranscriptionModelV4 } from '@ai-sdk/provider'
import type { ModelProvider } from '../config/models-settings.ts'
import { megabyte } from '../units.ts'
import { guardedFetch, maxAnswerBytes, type AnswerLimits, type OnPart } from './guarded-fetch.ts'

/** The models of a provider, by the provider's names of them. */
export interface OpenedProvider {
  text(model: string): Promise<LanguageModelV4>
  /** @throws Error when the provider transcribes nothing; the same of the others */
  transcription(model: string): Promise<TranscriptionModelV4>
  /** @param onPart as of `guardedFetch`, for the answers of this model */
  image(model: string, onPart: OnPart): Promise<ImageModelV4>
  speech(model: string, onPart: OnPart): Promise<SpeechModelV4>
}

interface Library {
  text(model: string): LanguageModelV4
  transcription?(model: string): TranscriptionModelV4
  image?(model: string): ImageModelV4
  speech?(model: string): SpeechModelV4
}

/**
 * Upper bound of the body of a streamed answer: each word of a text, or of a model's thoughts, comes in an event of 300 bytes or
 * more, so that the longest answers have some 40 MB. They are not held.
 */
const maxStreamBytes = 64 * megabyte
/** Upper bound of a picture in base64, or of the longest speech as wave. */
const maxMediaBytes = 24 * megabyte
const mediaLimits: AnswerLimits = { maxBytes: maxMediaBytes, maxStreamBytes: maxMediaBytes }

/**
 * Opens a provider's models. The library of a provider is loaded at its first call: it takes some 100 ms and 20 MB, and
 * most processes call no model.
 */
export function openProvider(provider: ModelProvider): OpenedProvider {
  let loaded: Promise<Library> | undefined
  const load = () => (loaded ??= loadLibrary(provider, { maxBytes: maxAnswerBytes, maxStreamBytes }))
  // Its instances cost nothing, and each has a `fetch` of its own.
  const loadForMedia = (onPart: OnPart) => loadLibrary(provider, mediaLimits, onPart)
  return {
    text: async (model) => (await load()).text(model),
    transcription: async (model) => made((await load()).transcription?.(model)),
    image: async (model, onPart) => made((await loadForMedia(onPart)).image?.(model)),
    speech: async (model, onPart) => made((await loadForMedia(onPart)).speech?.(model)),
  }

  function made<Model>(model: Model | undefined): Model {
    if (model) return model
    throw new Error(`The provider ${provider.name} has no such models`)
  }
}

/** Address and key are always given: the libraries would take them from the environment otherwise. */
async function loadLibrary(
  { name, kind, url: baseURL, key }: ModelProvider,
  limits: AnswerLimits,
  onPart?: OnPart,
): Promise<Library> {
  const fetch = guardedFetch(baseURL, limits, onPart)
  const settings = { baseURL, apiKey: key ?? '', fetch }
  switch (kind) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      const openai = createOpenAI(settings)
      // Chat completions take stop sequences, which the newer interface of the provider does not.
      return { text: (model) => openai.chat(model), ...mediaOf(openai) }
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return { text: createAnthropic(settings) }
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google')
      const google = createGoogle(settings)
      return { text: google, ...mediaOf(google) }
    }
    case 'compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      const compatible = createOpenAICompatible({
        name,
        baseURL,
        fetch,
        supportsStructuredOutputs: true,
        includeUsage: true,
        ...(key !== undefined && { apiKey: key }),
      })
      // Its own library has no transcription and no speech, and requests pictures at addresses that the endpoint names.
      const { createOpenAI } = await import('@ai-sdk/openai')
      const openai = createOpenAI({ ...settings, name })
      return { text: (model) => compatible(model), ...mediaOf(openai) }
    }
  }
}

/** The models beside those of texts. */
function mediaOf(library: Required<Omit<Library, 'text'>>): Omit<Library, 'text'> {
  return {
    transcription: (model) => library.transcription(model),
    image: (model) => library.image(model),
    speech: (model) => library.speech(model),
  }
}

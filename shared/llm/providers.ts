import type { LanguageModelV4, TranscriptionModelV4 } from '@ai-sdk/provider'
import type { ModelProvider } from '../config/models-settings.ts'
import { guardedFetch } from './guarded-fetch.ts'

/** The models of a provider, by the provider's names of them. */
export interface OpenedProvider {
  text(model: string): Promise<LanguageModelV4>
  /** @throws Error when the provider transcribes nothing, which none is chosen for */
  transcription(model: string): Promise<TranscriptionModelV4>
}

interface Library {
  text(model: string): LanguageModelV4
  transcription?(model: string): TranscriptionModelV4
}

/** Upper bound of the body of a provider's answer: the longest answers of models are far below. */
const maxAnswerBytes = 8 * 1024 * 1024

/**
 * Opens a provider's models. The library of a provider is loaded at its first call: it takes some 100 ms and 20 MB, and
 * most processes call no model.
 */
export function openProvider(provider: ModelProvider): OpenedProvider {
  let loaded: Promise<Library> | undefined
  const load = () => (loaded ??= loadLibrary(provider))
  return {
    text: async (model) => (await load()).text(model),
    async transcription(model) {
      const { transcription } = await load()
      if (!transcription) throw new Error(`The provider ${provider.name} transcribes nothing`)
      return transcription(model)
    },
  }
}

/** Address and key are always given: the libraries would take them from the environment otherwise. */
async function loadLibrary({ name, kind, url: baseURL, key }: ModelProvider): Promise<Library> {
  const fetch = guardedFetch(baseURL, maxAnswerBytes)
  const settings = { baseURL, apiKey: key ?? '', fetch }
  switch (kind) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      const openai = createOpenAI(settings)
      // Chat completions take stop sequences, which the newer interface of the provider does not.
      return { text: (model) => openai.chat(model), transcription: (model) => openai.transcription(model) }
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return { text: createAnthropic(settings) }
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google')
      const google = createGoogle(settings)
      return { text: google, transcription: (model) => google.transcription(model) }
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
      // Its own library has no transcription.
      const { createOpenAI } = await import('@ai-sdk/openai')
      const openai = createOpenAI({ ...settings, name })
      return { text: (model) => compatible(model), transcription: (model) => openai.transcription(model) }
    }
  }
}

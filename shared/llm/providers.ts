import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelProvider } from '../config/models-settings.ts'
import { guardedFetch } from './guarded-fetch.ts'

type Create = (model: string) => LanguageModelV4

/** Upper bound of the body of a provider's answer: the longest answers of models are far below. */
const maxAnswerBytes = 8 * 1024 * 1024

/**
 * Opens a provider's models. The library of a provider is loaded at its first call: it takes some 100 ms and 20 MB, and
 * most processes call no model.
 */
export function openProvider(provider: ModelProvider): (model: string) => Promise<LanguageModelV4> {
  let created: Promise<Create> | undefined
  return async (model) => {
    created ??= createProvider(provider)
    return (await created)(model)
  }
}

/** Address and key are always given: the libraries would take them from the environment otherwise. */
async function createProvider({ name, kind, url: baseURL, key }: ModelProvider): Promise<Create> {
  const fetch = guardedFetch(baseURL, maxAnswerBytes)
  const settings = { baseURL, apiKey: key ?? '', fetch }
  switch (kind) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      const openai = createOpenAI(settings)
      // Chat completions take stop sequences, which the newer interface of the provider does not.
      return (model) => openai.chat(model)
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic(settings)
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google')
      return createGoogle(settings)
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
      return (model) => compatible(model)
    }
  }
}

import type { GenerateTextInput } from '../models/language-model.ts'
import { isRecord } from '../models/payload.ts'

/** The tokens that are assumed of an answer whose length the caller does not bound. */
const usualAnswer = 4096
/** The tokens that are assumed of an image or an audio file. */
const tokensOfMedia = 1000

/** Estimates the tokens of a text: about 4 bytes each, which is 0.7 to 1.1 of what tokenizers count. */
export function tokensOfText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4)
}

/** Estimates the tokens of a call, before it is made. */
export function estimateTokens(input: GenerateTextInput): { input: number; output: number } {
  let media = 0
  const text = JSON.stringify(
    [input.systemPrompt, input.messages, input.tools, input.responseSchema],
    function (this: unknown, name, value: unknown) {
      const isMedium = name === 'url' && isRecord(this) && (this['type'] === 'image' || this['type'] === 'audio')
      if (!isMedium || typeof value !== 'string' || !value.startsWith('data:')) return value
      media += 1
      return ''
    },
  )
  return { input: tokensOfText(text) + media * tokensOfMedia, output: input.maxTokens ?? usualAnswer }
}

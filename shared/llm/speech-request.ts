import { PassThrough } from 'node:stream'
import type { ModelUsage, ModelWarning } from '../models/language-model.ts'
import type { AudioFormat, GenerateAudioInput } from '../models/speech.ts'
import type { Candidate } from './choose-models.ts'
import { tokensOfText } from './estimate.ts'
import { countOf, warningsOf } from './from-result.ts'
import type { HoldBytes, ModelContent } from './made-content.ts'
import { speechPriceOf, usualVoice } from './media-catalogue.ts'
import { MalformedAnswerError } from './model-failure.ts'
import { orAborted, type ModelRequest } from './provider-calls.ts'

export interface SpeechFacts {
  format: AudioFormat
  voice: string
}

/** A character takes a fifteenth of a second, and a second has 25 tokens. */
const tokensPerCharacter = 25 / 15

interface SpeechCall {
  input: GenerateAudioInput
  /** Whether the bytes are given as they come: those of a provider whose answer is the audio itself. */
  isStreamed: boolean
  hold: HoldBytes
}

/** Makes the request for speech to a model. */
export function speechRequest(
  { input, isStreamed, hold }: SpeechCall,
  candidate: Candidate,
): ModelRequest<Uint8Array, ModelContent<SpeechFacts>> {
  const { kind } = candidate.provider
  const format = kind === 'google' ? 'wav' : (input.format ?? 'mp3')
  const voice = input.voice ?? usualVoice(kind)
  let hasBegun = false
  return {
    isStreamed,
    get hasBegun() {
      return hasBegun
    },
    async *send(provider, { signal, abortSignal }) {
      const parts = new PassThrough()
      const opened = await provider.speech(candidate.model, (part, bytes) => {
        hold(bytes)
        if (isStreamed && kind !== 'google') parts.write(part)
      })
      const { input: text, speed, instructions, language } = input
      const call = {
        text,
        voice,
        outputFormat: format,
        ...(speed !== undefined && { speed }),
        ...(instructions !== undefined && { instructions }),
        ...(language !== undefined && { language }),
        abortSignal,
      }
      const made = orAborted(opened.doGenerate(call), signal)
      const end = () => parts.end()
      made.then(end, end)
      for await (const part of parts as AsyncIterable<Uint8Array>) {
        hasBegun = true
        yield part
      }
      const { audio, warnings } = await made
      const bytes = typeof audio === 'string' ? Buffer.from(audio, 'base64') : audio
      if (bytes.byteLength === 0) throw new MalformedAnswerError('The answer has no audio')
      if (isStreamed && !hasBegun) {
        hasBegun = true
        yield bytes
      }
      const ownWarnings = [...warningsOf(warnings), ...formatWarning(input.format, format, candidate)]
      return { bytes, facts: { format, voice }, warnings: ownWarnings, usage: expectedSpeech(input, candidate) }
    },
    billed: () => expectedSpeech(input, candidate),
  }
}

function formatWarning(asked: AudioFormat | undefined, made: AudioFormat, { id }: Candidate): ModelWarning[] {
  if (asked === undefined || asked === made) return []
  return [{ type: 'parameter_ignored', message: `${id} makes ${made} and not ${asked}` }]
}

/** The usage of a call, which follows from its text. */
export function expectedSpeech({ input }: GenerateAudioInput, { provider, model }: Candidate): ModelUsage {
  return {
    inputTokens: tokensOfText(input),
    inputCost: 0,
    outputTokens: countOf(input.length * tokensPerCharacter),
    outputCost: input.length * speechPriceOf(provider.kind, model),
  }
}

import type { ModelUsage, ModelWarning } from '../models/language-model.ts'
import type { AudioFormat, GenerateAudioInput } from '../models/speech.ts'
import type { Candidate } from './choose-models.ts'
import { tokensOfText } from './estimate.ts'
import { countOf, warningsOf } from './from-result.ts'
import type { HoldBytes, ModelContent } from './made-content.ts'
import { speechPriceOf, usualVoice } from './media-catalogue.ts'
import { MalformedAnswerError } from './model-failure.ts'
import { orAborted, type ModelRequest } from './provider-calls.ts'
import { wholeRequest } from './whole-request.ts'

export interface SpeechFacts {
  format: AudioFormat
  voice: string
}

/** A character takes a fifteenth of a second, and a second has 25 tokens. */
const tokensPerCharacter = 25 / 15

/** Makes the request for speech to a model. @param hold as of `MediaCall` */
export function speechRequest(
  input: GenerateAudioInput,
  candidate: Candidate,
  hold: HoldBytes,
): ModelRequest<never, ModelContent<SpeechFacts>> {
  const { kind } = candidate.provider
  return wholeRequest({
    async send(provider, { signal, abortSignal }) {
      const { input: text, voice = usualVoice(kind), speed, instructions, language } = input
      const format = kind === 'google' ? 'wav' : (input.format ?? 'mp3')
      const opened = await provider.speech(candidate.model, (_part, bytes) => hold(bytes))
      const call = {
        text,
        voice,
        outputFormat: format,
        ...(speed !== undefined && { speed }),
        ...(instructions !== undefined && { instructions }),
        ...(language !== undefined && { language }),
        abortSignal,
      }
      const { audio, warnings } = await orAborted(opened.doGenerate(call), signal)
      const bytes = typeof audio === 'string' ? Buffer.from(audio, 'base64') : audio
      if (bytes.byteLength === 0) throw new MalformedAnswerError('The answer has no audio')
      const ownWarnings = [...warningsOf(warnings), ...formatWarning(input.format, format, candidate)]
      return { bytes, facts: { format, voice }, warnings: ownWarnings, usage: expectedSpeech(input, candidate) }
    },
    billed: () => expectedSpeech(input, candidate),
  })
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

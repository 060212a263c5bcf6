import type { SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { ModelUsage } from '../models/language-model.ts'
import { transcriptionPriceOf } from './media-catalogue.ts'
import type { Candidate } from './choose-models.ts'
import { tokensOfText } from './estimate.ts'
import { believedTokens, countOf } from './from-result.ts'
import { orAborted, type ModelRequest } from './provider-calls.ts'
import { wholeRequest } from './whole-request.ts'
import { toStorable } from '../models/storable.ts'

/** Audio that is to be transcribed. */
export interface AudioContent {
  bytes: Uint8Array
  /** For instance `audio/mpeg`. */
  mediaType: string
}

/** The language and the words that a caller knows of the audio, and the form of the transcript that it wants. */
export interface TranscriptWishes {
  /** That is spoken, for instance `en`. */
  language?: string | undefined
  /** Names and terms that are spoken, or the text before. */
  prompt?: string | undefined
  temperature?: number | undefined
  /** Whether the times of the segments are wanted, of models that do not always give them. */
  wantsSegments?: boolean
}

/** The transcript of one model. */
export interface Transcript {
  text: string
  /** Where the model names it. */
  language: string | undefined
  segments: { start: number; end: number; text: string }[]
  durationSeconds: number
  usage: ModelUsage
}

/** The tokens that a second of audio counts as, where a provider reports none: those of its hosted models. */
const tokensPerSecond = 10
/** The bytes that a second of audio is assumed to have, before its duration is known: those of a voice message. */
const bytesPerSecond = 4000
/** The tokens of speech in a second, at most. */
const spokenTokensPerSecond = 5

/** Makes the request for a transcript to a model. */
export function transcriptRequest(
  audio: AudioContent,
  wishes: TranscriptWishes,
  candidate: Candidate,
): ModelRequest<never, Transcript> {
  return wholeRequest({
    async send(provider, { signal, abortSignal }) {
      const opened = await provider.transcription(candidate.model)
      const { bytes, mediaType } = audio
      const providerOptions = optionsOf(wishes, candidate)
      const result = await orAborted(
        opened.doGenerate({ audio: bytes, mediaType, providerOptions, abortSignal }),
        signal,
      )
      const text = toStorable(result.text)
      const reported = reportedTokens(result)
      const durationSeconds = durationOf(result.durationInSeconds, reported.audio) ?? assumedSeconds(audio)
      const usage = usageOf(candidate, durationSeconds, {
        input: believedTokens(reported.input) ?? durationSeconds * tokensPerSecond,
        output: believedTokens(reported.output) ?? tokensOfText(text),
      })
      const { language } = result
      const segments = result.segments.map(({ startSecond: start, endSecond: end, text }) => ({
        start: timeOf(start),
        end: timeOf(end),
        text: toStorable(text),
      }))
      return { text, language, segments, durationSeconds, usage }
    },
    billed: () => expectedTranscript(audio, candidate),
  })
}

/** The wishes as options of the providers' libraries. */
function optionsOf(
  { language, prompt, temperature, wantsSegments = false }: TranscriptWishes,
  { provider }: Candidate,
): SharedV4ProviderOptions {
  if (provider.kind === 'google') return { google: { ...(language !== undefined && { languageCodes: [language] }) } }
  return {
    openai: {
      ...(language !== undefined && { language }),
      ...(prompt !== undefined && { prompt }),
      ...(temperature !== undefined && { temperature }),
      // The library knows which hosted models have segments.
      ...(wantsSegments && provider.kind === 'compatible' && { responseFormat: 'verbose_json' }),
    },
  }
}

/** The usage that a call is assumed to have with a model. */
export function expectedTranscript(audio: AudioContent, candidate: Candidate): ModelUsage {
  const seconds = assumedSeconds(audio)
  return usageOf(candidate, seconds, { input: seconds * tokensPerSecond, output: seconds * spokenTokensPerSecond })
}

/** Audio is paid for by its duration; the tokens are for budgets in tokens. */
function usageOf(
  { provider, model }: Candidate,
  seconds: number,
  { input, output }: { input: number; output: number },
): ModelUsage {
  return {
    inputTokens: countOf(input),
    inputCost: (seconds / 60) * transcriptionPriceOf(provider.kind, model),
    outputTokens: countOf(output),
    outputCost: 0,
  }
}

function assumedSeconds({ bytes }: AudioContent): number {
  return Math.max(1, Math.ceil(bytes.byteLength / bytesPerSecond))
}

const maxSeconds = 24 * 60 * 60

const longestTime = 1e9

/** A time in the audio, in seconds: a number of any other size has hundreds of digits where it is stored. */
function timeOf(reported: number): number {
  return Math.round(Math.min(Math.max(0, reported), longestTime) * 1000) / 1000
}

function durationOf(reported: number | undefined, audioTokens: number | undefined): number | undefined {
  const seconds = reported ?? (audioTokens === undefined ? undefined : audioTokens / tokensPerSecond)
  return seconds !== undefined && seconds > 0 && seconds <= maxSeconds ? seconds : undefined
}

/** The tokens that a provider reports, of those who do. */
function reportedTokens({ usage }: { usage?: unknown }): { input?: number; output?: number; audio?: number } {
  const { input_tokens, output_tokens, input_token_details: details } = (usage ?? {}) as Record<string, unknown>
  const audio = (details as Record<string, unknown> | null | undefined)?.['audio_tokens']
  return {
    ...(typeof input_tokens === 'number' && { input: input_tokens }),
    ...(typeof output_tokens === 'number' && { output: output_tokens }),
    ...(typeof audio === 'number' && { audio }),
  }
}

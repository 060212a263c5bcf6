import { LRUCache } from 'lru-cache'
import { aliases, type MediaUse, type ModelsSettings } from '../config/models-settings.ts'
import type { GenerateTextInput, GenerateTextOutput, LanguageModel, ModelUsage } from '../models/language-model.ts'
import type { TranscribeAudioOutput } from '../models/audio-transcript.ts'
import type { GenerateImageInput } from '../models/picture.ts'
import type { GenerateAudioInput, Voice } from '../models/speech.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { listedModels } from './catalogue.ts'
import { chooseMediaModels, chooseModels, modelsOf, type Candidate, type Choice } from './choose-models.ts'
import type { ModelAnswer } from './from-result.ts'
import { withOwnKeys, type OwnKeys } from './own-keys.ts'
import { costOf, openProviderCalls, type Answered, type CallTelemetry, type ProviderCall } from './provider-calls.ts'
import { SharedSlots, type SlotRows } from './shared-slots.ts'
import { expectedPicture, imageRequest, type PictureFacts } from './image-request.ts'
import type { HoldBytes, MadeContent, ModelContent } from './made-content.ts'
import { isOfTexts, listedVoices } from './media-catalogue.ts'
import { MediaMemory } from './media-memory.ts'
import { expectedSpeech, speechRequest, type SpeechFacts } from './speech-request.ts'
import type { Piece } from './streamed-answer.ts'
import { expectedUsage, textRequest } from './text-request.ts'
import {
  expectedTranscript,
  transcriptRequest,
  type AudioContent,
  type TranscriptWishes,
} from './transcript-request.ts'

/** The language models of the operator's providers, or of those with a workspace's own keys. */
export interface Gateway {
  /** The names of the providers. */
  providers: readonly string[]
  list(): LanguageModel[]
  /**
   * Chooses the models for a call.
   * @throws ApiError when there is none
   */
  choose(input: GenerateTextInput): Choice
  /** As `choose`, of the models of a use beside text. */
  chooseMedia(use: MediaUse, asked: string | readonly string[] | undefined): Choice
  /** The usage that a call is assumed to have, by the most expensive of its models. */
  estimate(input: GenerateTextInput, choice: Choice): ModelUsage
  /** The voices of the listed models that speak. */
  listVoices(): Voice[]
  /** As `estimate`, of a transcript, a picture and speech. */
  estimateTranscript(audio: AudioContent, choice: Choice): ModelUsage
  estimateImage(input: GenerateImageInput, choice: Choice): ModelUsage
  estimateSpeech(input: GenerateAudioInput, choice: Choice): ModelUsage
  /**
   * Asks the models in order until one answers. After the first piece of an answer no other model is asked. A reader has to
   * read to the end; the signal of the call ends it early.
   *
   * @returns the pieces of a streamed answer as they come, then the whole answer
   * @throws NoAnswerError when no model answers, or an answer ends within
   */
  generate(
    call: GatewayCall & { input: GenerateTextInput; isStreamed?: boolean },
  ): AsyncGenerator<Piece, GenerateTextOutput, void>
  /** As `generate`, for the text of spoken words. It has no pieces. */
  transcribe(
    call: GatewayCall & { audio: AudioContent; wishes: TranscriptWishes },
  ): AsyncGenerator<never, TranscribeAudioOutput, void>
  /** As `transcribe`, for a picture. */
  paint(call: MediaCall & { input: GenerateImageInput }): AsyncGenerator<never, MadeContent<PictureFacts>, void>
  /** As `generate`, for speech, whose pieces are bytes. */
  speak(
    call: MediaCall & { input: GenerateAudioInput; isStreamed?: boolean },
  ): AsyncGenerator<Uint8Array, MadeContent<SpeechFacts>, void>
  /** The memory of audio and pictures in calls. */
  mediaMemory: MediaMemory
  /** The gateway with a workspace's own keys, whose calls have slots of their own. */
  withKeys(keys: OwnKeys): Gateway
  /** The calls of events that are in flight or whose answers are not recorded yet, by their key in the journal. */
  unrecorded: LRUCache<string, Promise<unknown>>
}

export interface GatewayCall extends Pick<ProviderCall<unknown, unknown>, 'botId' | 'signal' | 'onAttempt'> {
  choice: Choice
}

export interface MediaCall extends GatewayCall {
  hold: HoldBytes
}

const unrecordedMilliseconds = 10 * 60_000

/** The gateways with workspaces' own keys that a process keeps open. */
const maxOwnGateways = 1000

/** The parts that all gateways of a process have in common. */
interface Common extends CallTelemetry {
  unrecorded: Gateway['unrecorded']
  mediaMemory: MediaMemory
  own: LRUCache<string, Gateway>
}

/** Opens the gateway. Nothing is loaded or sent before the first call. */
export function openGateway(
  settings: ModelsSettings,
  { slotRows, metrics, log }: { slotRows: SlotRows; metrics: Metrics; log: Logger },
): Gateway {
  const inFlight = new Map(settings.providers.map(({ name }) => [name, 0]))
  metrics.gauge({
    name: 'model_calls_in_flight',
    help: 'Calls of language models in flight',
    labels: ['provider'],
    read: () => Array.from(inFlight, ([provider, calls]) => [{ provider }, calls]),
  })
  const unrecorded = new LRUCache<string, Promise<unknown>>({
    max: 10_000,
    ttl: unrecordedMilliseconds,
    ttlAutopurge: true,
  })
  const { maxConcurrentTotal } = settings
  const sharedSlots = maxConcurrentTotal === undefined ? undefined : new SharedSlots(slotRows, log, maxConcurrentTotal)
  const own = new LRUCache<string, Gateway>({ max: maxOwnGateways })
  return gatewayOf(settings, { metrics, log, unrecorded, mediaMemory: new MediaMemory(), inFlight, sharedSlots, own })
}

function gatewayOf(settings: ModelsSettings, common: Common): Gateway {
  const { metrics, unrecorded, mediaMemory } = common
  const { providers, idleMilliseconds } = settings
  const askInOrder = openProviderCalls(settings, common)
  return {
    providers: providers.map(({ name }) => name),
    unrecorded,
    mediaMemory,
    withKeys(keys) {
      const id = JSON.stringify(keys)
      const known = common.own.get(id) ?? gatewayOf(withOwnKeys(settings, keys), common)
      common.own.set(id, known)
      return known
    },
    list: () =>
      providers.flatMap(listedModels).map((model) => ({
        ...model,
        aliases: isOfTexts(model) ? aliases.filter((alias) => modelsOf(settings, alias)[0]?.id === model.id) : [],
      })),
    choose: ({ model = 'auto' }) => chooseModels(settings, typeof model === 'string' ? [model] : model),
    listVoices: () => providers.flatMap(listedVoices),
    chooseMedia: (use, asked = 'auto') => chooseMediaModels(settings, use, typeof asked === 'string' ? [asked] : asked),
    estimate: (input, { candidates }) => dearest(candidates.map((candidate) => expectedUsage(input, candidate))),
    estimateTranscript: (audio, { candidates }) =>
      dearest(candidates.map((candidate) => expectedTranscript(audio, candidate))),
    estimateImage: (input, { candidates }) => dearest(candidates.map((candidate) => expectedPicture(input, candidate))),
    estimateSpeech: (input, { candidates }) => dearest(candidates.map((candidate) => expectedSpeech(input, candidate))),
    async *generate({ input, isStreamed = false, choice, ...call }) {
      const request = (candidate: Candidate) => textRequest({ input, isStreamed, idleMilliseconds, metrics }, candidate)
      return toOutput(yield* askInOrder({ ...call, candidates: choice.candidates, request }), choice)
    },
    async *transcribe({ audio, wishes, choice, ...call }) {
      const request = (candidate: Candidate) => transcriptRequest(audio, wishes, candidate)
      const answered = yield* askInOrder({ ...call, candidates: choice.candidates, request })
      const { answer, candidate, latency, fallbackPath } = answered
      const { text, language, segments, durationSeconds, usage } = answer
      const model = { provider: candidate.provider.name, model: candidate.id }
      return {
        output: text,
        ...(language !== undefined && { language }),
        ...(segments.length > 0 && { segments }),
        metadata: { ...model, durationSeconds, usage, cost: costOf(usage), cached: false, latency, fallbackPath },
      }
    },
    async *paint({ input, choice, hold, ...call }) {
      const request = (candidate: Candidate) => imageRequest(input, candidate, hold)
      return toMade(yield* askInOrder({ ...call, candidates: choice.candidates, request }), choice)
    },
    async *speak({ input, isStreamed = false, choice, hold, ...call }) {
      const request = (candidate: Candidate) => speechRequest({ input, isStreamed, hold }, candidate)
      return toMade(yield* askInOrder({ ...call, candidates: choice.candidates, request }), choice)
    },
  }
}

function toMade<Facts>(
  { answer, candidate, latency, fallbackPath }: Answered<ModelContent<Facts>>,
  choice: Choice,
): MadeContent<Facts> {
  const { bytes, facts, usage } = answer
  const warnings = [...choice.warnings, ...answer.warnings]
  const call = {
    provider: candidate.provider.name,
    model: candidate.id,
    usage,
    cost: costOf(usage),
    cached: false,
    latency,
    fallbackPath,
    ...(warnings.length > 0 && { warnings }),
  }
  return { bytes, metadata: { ...facts, ...call } }
}

function toOutput(answered: Answered<ModelAnswer>, choice: Choice): GenerateTextOutput {
  const { candidate, latency, ttft, fallbackPath } = answered
  const { usage, stopReason, warnings, ...answer } = answered.answer
  const all = [...choice.warnings, ...warnings]
  return {
    ...answer,
    metadata: {
      provider: candidate.provider.name,
      model: candidate.id,
      usage,
      cost: costOf(usage),
      cached: false,
      latency,
      ...(ttft !== undefined && { ttft }),
      stopReason,
      fallbackPath,
      ...(all.length > 0 && { warnings: all }),
    },
  }
}

function dearest(usages: ModelUsage[]): ModelUsage {
  return usages.reduce((one, other) => (costOf(other) > costOf(one) ? other : one))
}

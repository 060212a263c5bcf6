import type { MediaUse, ModelProvider, ProviderKind } from '../config/models-settings.ts'
import type { LanguageModel } from '../models/language-model.ts'
import type { Voice } from '../models/speech.ts'

type Hosted = Exclude<ProviderKind, 'compatible'>

/** Qualities of a picture. `auto` is the model's choice. */
export const qualities = ['low', 'medium', 'high', 'auto'] as const
export type Quality = (typeof qualities)[number]

/** The prices of a picture in US dollars, by quality: of a square one, and of the other shapes. */
interface PicturePrice {
  square: PricesOfQualities
  other: PricesOfQualities
}

type PricesOfQualities = Record<Exclude<Quality, 'auto'>, number>

/** The sizes of OpenAI's models. */
export const pictureSizes = ['1024x1024', '1536x1024', '1024x1536'] as const

const prices = (low: number, medium: number, high: number): PricesOfQualities => ({ low, medium, high })
const picture = (square: PricesOfQualities, other = square): PicturePrice => ({ square, other })

/**
 * The models beside those of texts, the usual one of a provider first, with their prices in autumn 2026: of a minute of audio, of a
 * picture, and of a million characters that are spoken. Prices by tokens are estimates of those: a character is spoken in a fifteenth
 * of a second, which has 25 tokens.
 */
const transcribers: Record<Hosted, Record<string, number>> = {
  openai: { 'gpt-4o-mini-transcribe': 0.003, 'gpt-4o-transcribe': 0.006, 'whisper-1': 0.006 },
  anthropic: {},
  google: {},
}

/** Whether a model may give the times of a transcript's segments: those of OpenAI that are known to give none may not. */
export function mayGiveTimes(kind: ProviderKind, id: string): boolean {
  return kind !== 'openai' || !id.startsWith('gpt-') || id.includes('diarize')
}

const painters: Record<Hosted, Record<string, PicturePrice>> = {
  openai: {
    'gpt-image-1-mini': picture(prices(0.005, 0.011, 0.036), prices(0.006, 0.015, 0.052)),
    'gpt-image-2': picture(prices(0.006, 0.053, 0.211), prices(0.005, 0.041, 0.165)),
    'gpt-image-1.5': picture(prices(0.009, 0.034, 0.133), prices(0.013, 0.05, 0.2)),
    'gpt-image-1': picture(prices(0.011, 0.042, 0.167), prices(0.016, 0.063, 0.25)),
  },
  anthropic: {},
  google: { 'gemini-2.5-flash-image': picture(prices(0.039, 0.039, 0.039)) },
}

const speakers: Record<Hosted, Record<string, number>> = {
  openai: { 'gpt-4o-mini-tts': 17, 'tts-1': 15, 'tts-1-hd': 30 },
  anthropic: {},
  google: { 'gemini-2.5-flash-preview-tts': 17, 'gemini-2.5-pro-preview-tts': 34 },
}

const models: Record<MediaUse, Record<Hosted, Record<string, unknown>>> = {
  transcription: transcribers,
  image: painters,
  speech: speakers,
}

/** The model of a provider for a use, where the operator has not chosen one; absent where none is known. */
export function usualMediaModel(use: MediaUse, kind: ProviderKind): string | undefined {
  return kind === 'compatible' ? undefined : Object.keys(models[use][kind])[0]
}

/**
 * The price of a minute of audio in US dollars. A hosted model without a known price costs as the dearest, so that no name is
 * outside of budgets; those of an endpoint of the operator's own cost 0.
 */
export function transcriptionPriceOf(kind: ProviderKind, id: string): number {
  return kind === 'compatible' ? 0 : (priceIn(transcribers[kind], id) ?? Math.max(...pricesOf(transcribers)))
}

/** The price of a picture in US dollars, as `transcriptionPriceOf`; where its shape is not known, that of the dearer one. */
export function picturePriceOf(
  kind: ProviderKind,
  id: string,
  { quality, isSquare }: { quality: Quality; isSquare: boolean | undefined },
): number {
  if (kind === 'compatible') return 0
  const known = priceIn(painters[kind], id)
  const price = ({ square, other }: PicturePrice, of: keyof PricesOfQualities) =>
    isSquare === undefined ? Math.max(square[of], other[of]) : (isSquare ? square : other)[of]
  return known
    ? price(known, quality === 'auto' ? 'high' : quality)
    : Math.max(...pricesOf(painters).map((each) => price(each, 'high')))
}

/** The price of a character that is spoken in US dollars, as `transcriptionPriceOf`. */
export function speechPriceOf(kind: ProviderKind, id: string): number {
  return kind === 'compatible' ? 0 : (priceIn(speakers[kind], id) ?? Math.max(...pricesOf(speakers))) / 1_000_000
}

function priceIn<Price>(prices: Record<string, Price>, id: string): Price | undefined {
  return Object.hasOwn(prices, id) ? prices[id] : undefined
}

function pricesOf<Price>(prices: Record<Hosted, Record<string, Price>>): Price[] {
  return Object.values(prices).flatMap((each) => Object.values(each))
}

/** The models of a hosted provider that are no models of texts. */
export function listedMediaModels({ name: provider, kind }: ModelProvider): LanguageModel[] {
  if (kind === 'compatible') return []
  return [
    ...Object.entries(transcribers[kind]).map(([id, costPerMinute]) => ({
      ...listed(provider, id, 'transcribes speech', 'speech-to-text'),
      input: { maxTokens: 0, costPer1MTokens: 0, costPerMinute },
      capabilities: { ...noCapabilities, supportsAudio: true, supportsTranscription: true },
    })),
    ...Object.keys(painters[kind]).map((id) => listed(provider, id, 'makes pictures', 'image-generation')),
    ...Object.keys(speakers[kind]).map((id) => listed(provider, id, 'speaks', 'text-to-speech')),
  ]
}

const noCapabilities = {
  supportsImages: false,
  supportsAudio: false,
  supportsTranscription: false,
  supportsSearch: false,
}

/** Media have no tokens that a caller could count: the limits and prices of tokens are 0. */
function listed(provider: string, id: string, does: string, tag: string): LanguageModel {
  return {
    id: `${provider}:${id}`,
    name: id,
    description: `${id}, which ${does}, served by ${provider}.`,
    aliases: [],
    tags: [tag],
    input: { maxTokens: 0, costPer1MTokens: 0 },
    output: { maxTokens: 0, costPer1MTokens: 0 },
    lifecycle: 'production',
    capabilities: noCapabilities,
  }
}

/** Whether a listed model is one of texts. */
export function isOfTexts({ output }: LanguageModel): boolean {
  return output.maxTokens > 0
}

/** The voice that speaks unless a call names one. */
export function usualVoice(kind: ProviderKind): string {
  return kind === 'google' ? 'Kore' : 'alloy'
}

const voicesOfAll = 'alloy ash coral echo fable nova onyx sage shimmer'.split(' ')
const voicesOfNewest = 'ballad verse marin cedar'.split(' ')

/** The voices of Google with their characters, in its own words. */
const voicesOfGoogle = {
  Bright: 'Zephyr Autonoe',
  Upbeat: 'Puck Laomedeia',
  Informative: 'Charon Rasalgethi',
  Firm: 'Kore Orus Alnilam',
  Excitable: 'Fenrir',
  Youthful: 'Leda',
  Breezy: 'Aoede',
  'Easy-going': 'Callirrhoe Umbriel',
  Breathy: 'Enceladus',
  Clear: 'Iapetus Erinome',
  Smooth: 'Algieba Despina',
  Gravelly: 'Algenib',
  Soft: 'Achernar',
  Even: 'Schedar',
  Mature: 'Gacrux',
  Forward: 'Pulcherrima',
  Friendly: 'Achird',
  Casual: 'Zubenelgenubi',
  Gentle: 'Vindemiatrix',
  Lively: 'Sadachbia',
  Knowledgeable: 'Sadaltager',
  Warm: 'Sulafat',
}

/** The voices of a provider's listed models. All speak the languages of their model. */
export function listedVoices({ name: provider, kind }: ModelProvider): Voice[] {
  if (kind === 'compatible') return []
  const ids = Object.keys(speakers[kind]).map((id) => `${provider}:${id}`)
  if (kind === 'google') {
    return Object.entries(voicesOfGoogle).flatMap(([description, names]) =>
      names.split(' ').map((id) => ({ id, displayName: id, provider, models: ids, description })),
    )
  }
  if (kind === 'anthropic') return []
  const named = (id: string, models: string[]): Voice => ({
    id,
    displayName: id.charAt(0).toUpperCase() + id.slice(1),
    provider,
    models,
  })
  const newest = ids.filter((id) => id.includes('gpt-'))
  return [...voicesOfAll.map((id) => named(id, ids)), ...voicesOfNewest.map((id) => named(id, newest))]
}

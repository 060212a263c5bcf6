import { picturePriceOf, pictureSizes } from '../../llm/media-catalogue.ts'
import { invalidInput, type ChatAction } from '../../messaging/action-input.ts'
import { transcribeAudioInput, type TranscribeAudioOutput } from '../../models/audio-transcript.ts'
import type { LanguageModel } from '../../models/language-model.ts'
import type { MediaAction } from '../../models/model-action.ts'
import { isRecord } from '../../models/payload.ts'
import { generateImageInput } from '../../models/picture.ts'
import { unknownSegmentFields } from '../../models/openai-transcription.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { compile } from '../../schema.ts'
import { withOwnModels } from './own-models.ts'
import { paintRecorded } from './paint-recorded.ts'
import { transcribeRecorded } from './transcribe-recorded.ts'

const isTranscribeInput = compile(transcribeAudioInput, 'body')
const isImageInput = compile(generateImageInput, 'body')

/**
 * The actions of the public interfaces of models that transcribe and that make pictures, by their names, which the gateway serves for
 * a provider or a published integration.
 */
export const mediaActions: Record<MediaAction, (type: string, alias: string) => ChatAction> = {
  transcribeAudio: (type, alias) => async (context, given) => {
    const { fileUrl, model, temperature, ...others } = given
    const input = { ...others, url: fileUrl, model: await modelOf(context, alias, model, 'speech-to-text') }
    if (!isTranscribeInput(input)) throw invalidInput(type, isTranscribeInput)
    const { url: source, ...wishes } = input
    const transcript = await transcribeRecorded(
      context,
      { type, input },
      { source, ...wishes, ...(typeof temperature === 'number' && { temperature }), wantsSegments: true },
    )
    return toTranscript(transcript)
  },

  generateImage: (type, alias) => async (context, given) => {
    const { prompt, size, expiration, model, params } = given
    const input = {
      prompt,
      model: await modelOf(context, alias, model, 'image-generation'),
      ...(size !== undefined && { size }),
      ...(isRecord(params) && params['quality'] !== undefined && { quality: params['quality'] }),
      ...(expiration !== undefined && { options: { expirationDays: expiration } }),
    }
    if (!isImageInput(input)) throw invalidInput(type, isImageInput)
    const { output, metadata } = await paintRecorded(context, { type, input }, input)
    const { model: made, cost } = metadata
    return { model: withoutProvider(made), imageUrl: output.imageUrl, cost, botpress: { cost } }
  },

  listSpeechToTextModels: (_type, alias) => async (context) => ({
    models: (await listed(context, alias, 'speech-to-text')).map(({ id, name, input }) => ({
      id: withoutProvider(id),
      name,
      costPerMinute: input.costPerMinute,
    })),
  }),

  listImageModels: (_type, alias) => async (context) => ({
    models: (await listed(context, alias, 'image-generation')).map(({ id, name }) => ({
      id: withoutProvider(id),
      name,
      costPerImage: picturePriceOf(kindOf(alias), withoutProvider(id), { quality: 'high', isSquare: true }),
      sizes: pictureSizes,
      defaultSize: pictureSizes[0],
    })),
  }),
}

/** Only hosted providers list such models. */
function kindOf(alias: string): 'openai' | 'google' {
  return alias === 'openai' ? 'openai' : 'google'
}

async function listed(context: BotContext, alias: string, tag: string): Promise<LanguageModel[]> {
  const { models } = await withOwnModels(context)
  return models.list().filter(({ id, tags }) => id.startsWith(`${alias}:`) && tags.includes(tag))
}

/** The model that an action names, else the first listed one of the provider, else the platform's choice. */
async function modelOf(context: BotContext, alias: string, model: unknown, tag: string): Promise<string> {
  const id = isRecord(model) ? model['id'] : undefined
  if (typeof id === 'string') return `${alias}:${id}`
  return (await listed(context, alias, tag))[0]?.id ?? 'auto'
}

function withoutProvider(model: string): string {
  return model.slice(model.indexOf(':') + 1)
}

/** The text is in the segments: where a model gives none, all of it is one. */
function toTranscript({ output, language = '', segments, metadata }: TranscribeAudioOutput): Record<string, unknown> {
  const { model, durationSeconds: duration, cost } = metadata
  const known = segments ?? [{ start: 0, end: duration, text: output }]
  return {
    model: withoutProvider(model),
    language,
    duration,
    segments: known.map((segment, id) => ({ id, ...segment, ...unknownSegmentFields })),
    cost,
    botpress: { cost },
  }
}

import { usualDays } from '../../models/media.ts'
import {
  generateAudioInput,
  generateAudioOutput,
  type AudioFormat,
  type GenerateAudioInput,
  type GenerateAudioOutput,
} from '../../models/speech.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { operation } from '../../rpc/operation.ts'
import { makeRecorded } from './make-recorded.ts'
import { answerOf, metered } from './metered.ts'
import { storeMedia } from './store-media.ts'

const contentTypes: Record<AudioFormat, string> = { mp3: 'audio/mpeg', opus: 'audio/ogg', wav: 'audio/wav' }

export const generateAudio = operation({
  name: 'generateAudio',
  description:
    'Has a model speak a text; the audio becomes a public file of the bot. Models are tried in order until one answers.',
  method: 'POST',
  path: '/v2/cognitive/generate-audio',
  access: 'bot',
  stability: 'experimental',
  errors: ['Runtime', 'ReferenceNotFound', 'PaymentRequired', 'RateLimited', 'QuotaExceeded'],
  awaitsWorker: true,
  isRecordedByInput: true,
  changesNothing: true,
  input: generateAudioInput,
  output: generateAudioOutput,

  handle: (context, input) =>
    makeRecorded(context, input, {
      prompt: input.input,
      make: (context) => speak(context, input),
      addressOf: ({ output }) => output.audioUrl,
    }),
})

async function speak(context: BotContext, input: GenerateAudioInput): Promise<GenerateAudioOutput> {
  const { models, caller } = context
  const choice = models.chooseMedia('speech', input.model)
  const call = { botId: caller.botId, input, choice, signal: context.callerGone?.() }
  const estimate = models.estimateSpeech(input, choice)
  const made = await answerOf(metered(context, estimate, (onAttempt) => models.speak({ ...call, onAttempt })))
  const { bytes, ...metadata } = made
  const { fileId, url } = await storeMedia(context, {
    bytes,
    contentType: contentTypes[metadata.format],
    extension: metadata.format,
    model: metadata.model,
    days: input.options?.expirationDays ?? usualDays,
  })
  return { output: { audioUrl: url }, metadata: { ...metadata, characterCount: input.input.length, fileId } }
}

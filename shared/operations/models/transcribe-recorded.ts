import { ApiError } from '../../errors.ts'
import type { Choice } from '../../llm/choose-models.ts'
import { mayGiveTimes } from '../../llm/media-catalogue.ts'
import type { TranscriptWishes } from '../../llm/transcript-request.ts'
import type { TranscribeAudioOutput } from '../../models/audio-transcript.ts'
import type { BotContext } from '../../rpc/caller.ts'
import type { FormFile } from '../../rpc/form-file.ts'
import { answerOf, metered } from './metered.ts'
import { withOwnModels } from './own-models.ts'
import { readAudio } from './read-audio.ts'
import { recordCall } from './record-call.ts'

/** The question, as people read it. */
const question = '[audio]'

/** Audio to be transcribed, and by which models. */
export interface Transcription extends TranscriptWishes {
  /** An address, or the file of a form. */
  source: string | FormFile
  mimeType?: string | undefined
  model?: string | readonly string[] | undefined
  /** Models that are known to give no times of segments are not asked. */
  needsSegments?: boolean
}

/**
 * Asks for the words that are spoken in an audio file, once in an event, within the budgets, and adds the call to the event's
 * timeline.
 *
 * @param call the input of the operation, which the journal compares
 * @throws ApiError as `readAudio` and `metered`, when there is no model, and when none gives the times that are needed
 */
export async function transcribeRecorded(
  given: BotContext,
  call: unknown,
  transcription: Transcription,
): Promise<TranscribeAudioOutput> {
  const context = await withOwnModels(given)
  return recordCall(context, call, {
    make: () => transcribe(context, transcription),
    prompt: () => question,
    answerOf: ({ output }) => output,
  })
}

async function transcribe(
  context: BotContext,
  { source, mimeType, model, needsSegments = false, ...wishes }: Transcription,
): Promise<TranscribeAudioOutput> {
  const { models, caller } = context
  // Before the audio is read, which may take long.
  const chosen = models.chooseMedia('transcription', model)
  const choice = needsSegments ? withTimes(chosen) : chosen
  using audio = await readAudio(context, source, mimeType)
  const call = { botId: caller.botId, audio, wishes, choice, signal: context.callerGone?.() }
  const estimate = models.estimateTranscript(audio, choice)
  // The audio is held until the answer is there.
  return await answerOf(metered(context, estimate, (onAttempt) => models.transcribe({ ...call, onAttempt })))
}

function withTimes(choice: Choice): Choice {
  const candidates = choice.candidates.filter(({ provider, model }) => mayGiveTimes(provider.kind, model))
  if (candidates.length === 0) throw noTimes(choice.candidates.map(({ id }) => id).join(' and '))
  return { ...choice, candidates }
}

/** The error of subtitles without times. */
export function noTimes(models: string): ApiError {
  return new ApiError(
    'InvalidPayload',
    `${models} ${models.includes(' and ') ? 'give' : 'gives'} no times, which srt and vtt need: name a model that does, such as openai:whisper-1, ` +
      'or ask for text',
  )
}

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
}

/**
 * Asks for the words that are spoken in an audio file, once in an event, within the budgets, and adds the call to the event's
 * timeline.
 *
 * @param call the input of the operation, which the journal compares
 * @throws ApiError as `readAudio` and `metered`, and when there is no model
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
  { source, mimeType, model, ...wishes }: Transcription,
): Promise<TranscribeAudioOutput> {
  const { models, caller } = context
  // Before the audio is read, which may take long.
  const choice = models.chooseMedia('transcription', model)
  using audio = await readAudio(context, source, mimeType)
  const call = { botId: caller.botId, audio, wishes, choice, signal: context.callerGone?.() }
  const estimate = models.estimateTranscript(audio, choice)
  // The audio is held until the answer is there.
  return await answerOf(metered(context, estimate, (onAttempt) => models.transcribe({ ...call, onAttempt })))
}

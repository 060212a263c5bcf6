import {
  transcribeAudioInput,
  transcribeAudioOutput,
  type TranscribeAudioInput,
  type TranscribeAudioOutput,
} from '../../models/audio-transcript.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { recordPaid } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { answerOf, metered } from './metered.ts'
import { withOwnModels } from './own-models.ts'
import { readAudio } from './read-audio.ts'
import { reportCall, reportFailure } from './report-call.ts'

/** The question, as people read it. */
const question = '[audio]'

export const transcribeAudio = operation({
  name: 'transcribeAudio',
  description:
    'Asks a model for the words that are spoken in an audio file. Models are tried in order until one answers.',
  method: 'POST',
  path: '/v2/cognitive/transcribe-audio',
  access: 'bot',
  stability: 'experimental',
  errors: ['Runtime', 'ReferenceNotFound', 'PaymentRequired', 'RateLimited', 'LimitExceeded'],
  awaitsWorker: true,
  isRecordedByInput: true,
  changesNothing: true,
  input: transcribeAudioInput,
  output: transcribeAudioOutput,

  async handle(given, input) {
    const context = await withOwnModels(given)
    let isReplayed = true
    try {
      const answer = await recordPaid(context, input, context.models.unrecorded, () => {
        isReplayed = false
        return transcribe(context, input)
      })
      await reportCall(context, {
        ...answer,
        isReplayed,
        contents: () => ({ prompt: question, answer: answer.output }),
      })
      return answer
    } catch (error) {
      await reportFailure(context, () => question, error)
      throw error
    }
  },
})

async function transcribe(
  context: BotContext,
  { url, mimeType, model }: TranscribeAudioInput,
): Promise<TranscribeAudioOutput> {
  const { models, caller } = context
  // Before the audio is read, which may take long.
  const choice = models.chooseTranscribers(model)
  using audio = await readAudio(context, url, mimeType)
  const call = { botId: caller.botId, audio, choice, signal: context.callerGone?.() }
  const estimate = models.estimateTranscript(audio, choice)
  // The audio is held until the answer is there.
  return await answerOf(metered(context, estimate, (onAttempt) => models.transcribe({ ...call, onAttempt })))
}

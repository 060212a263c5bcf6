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
import { readSound } from './read-sound.ts'
import { reportCall, reportFailure } from './report-call.ts'

export const transcribeAudio = operation({
  name: 'transcribeAudio',
  description: 'Asks a model for the words that are spoken in a sound. Models are tried in order until one answers.',
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
        contents: () => ({ prompt: soundOf(), answer: answer.output }),
      })
      return answer
    } catch (error) {
      await reportFailure(context, soundOf, error)
      throw error
    }
  },
})

/** The question, as people read it. */
function soundOf(): string {
  return '[audio]'
}

async function transcribe(
  context: BotContext,
  { url, mimeType, model }: TranscribeAudioInput,
): Promise<TranscribeAudioOutput> {
  const { models, caller } = context
  // Before the sound is read, which may take long.
  const choice = models.chooseTranscribers(model)
  using sound = await readSound(context, url, mimeType)
  const call = { botId: caller.botId, sound, choice, signal: context.callerGone?.() }
  const estimate = models.estimateTranscript(sound, choice)
  // The sound is held until the answer is there.
  return await answerOf(metered(context, estimate, (onAttempt) => models.transcribe({ ...call, onAttempt })))
}

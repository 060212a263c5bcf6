import type { GenerateAudioInput } from '../../models/speech.ts'
import type { SpeechFacts } from '../../llm/speech-request.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { makeRecorded, type MadeFile } from './make-recorded.ts'

/**
 * Has a text spoken, as `makeRecorded`.
 *
 * @param call the input of the operation, which the journal compares
 */
export function speakRecorded(
  context: BotContext,
  call: unknown,
  input: GenerateAudioInput,
): Promise<MadeFile<SpeechFacts>> {
  return makeRecorded(context, call, {
    use: 'speech',
    model: input.model,
    prompt: input.input,
    days: input.options?.expirationDays,
    estimate: (models, choice) => models.estimateSpeech(input, choice),
    ask: (models, request) => models.speak({ ...request, input }),
  })
}

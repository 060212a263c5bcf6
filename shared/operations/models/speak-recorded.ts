import type { GenerateAudioInput } from '../../models/speech.ts'
import type { SpeechFacts } from '../../llm/speech-request.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { makeRecorded, makeStreamed, type MadeFile, type Making } from './make-recorded.ts'

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
  return makeRecorded(context, call, makingOf(input, false))
}

/**
 * Has a text spoken, as `makeStreamed`.
 *
 * @param input of the operation, which the journal compares
 */
export function speakStreamed(
  context: BotContext,
  input: GenerateAudioInput,
  signal: AbortSignal,
): Promise<AsyncGenerator<Uint8Array, MadeFile<SpeechFacts>, void>> {
  return makeStreamed(context, input, { making: makingOf(input, true), signal })
}

function makingOf(input: GenerateAudioInput, isStreamed: boolean): Making<Uint8Array, SpeechFacts> {
  return {
    use: 'speech',
    model: input.model,
    prompt: input.input,
    days: input.options?.expirationDays,
    estimate: (models, choice) => models.estimateSpeech(input, choice),
    ask: (models, request) => models.speak({ ...request, input, isStreamed }),
  }
}

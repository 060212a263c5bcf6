import { whileLent, type BotContext, type ModelCallReport } from '../../rpc/caller.ts'
import { recordPaid } from '../../rpc/journal.ts'
import { reportCall, reportFailure, type AnswerMetadata } from './report-call.ts'

interface RecordedCall<Answer> {
  make(): Promise<Answer>
  /** The question and the answer, as people read them. */
  prompt(): string
  answerOf(answer: Answer): string
}

/**
 * Makes a call of models once in an event, and adds it to the event's timeline.
 *
 * @param call the input of the operation, which the journal compares
 */
export async function recordCall<Answer extends { metadata: AnswerMetadata }>(
  context: BotContext,
  call: unknown,
  { make, prompt, answerOf }: RecordedCall<Answer>,
): Promise<Answer> {
  let isReplayed = true
  try {
    const answer = await whileLent(context, 'all', () =>
      recordPaid(context, call, context.models.unrecorded, () => {
        isReplayed = false
        return make()
      }),
    )
    const contents: ModelCallReport['contents'] = () => ({ prompt: prompt(), answer: answerOf(answer) })
    await reportCall(context, { metadata: answer.metadata, isReplayed, contents })
    return answer
  } catch (error) {
    await reportFailure(context, prompt, error)
    throw error
  }
}

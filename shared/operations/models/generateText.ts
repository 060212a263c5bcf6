import { generateTextInput, generateTextOutput } from '../../models/language-model.ts'
import { recordPaid } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { metered } from './metered.ts'

export const generateText = operation({
  name: 'generateText',
  description:
    'Asks a language model for the next message of a conversation: text, JSON, or calls of tools. Models are tried in ' +
    'order until one answers.',
  method: 'POST',
  path: '/v2/cognitive/generate-text',
  access: 'bot',
  stability: 'experimental',
  errors: ['Runtime', 'ReferenceNotFound', 'PaymentRequired', 'RateLimited'],
  awaitsWorker: true,
  isRecordedByInput: true,
  changesNothing: true,
  input: generateTextInput,
  output: generateTextOutput,

  async handle(context, input) {
    const { models } = context
    return recordPaid(context, input, models.unrecorded, async () => {
      const call = { input, choice: models.choose(input), isStreamed: false, signal: context.callerGone?.() }
      const pieces = metered(context, call)
      let next = await pieces.next()
      while (!next.done) next = await pieces.next()
      return next.value
    })
  },
})

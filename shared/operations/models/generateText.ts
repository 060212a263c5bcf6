import { generateTextInput, generateTextOutput } from '../../models/language-model.ts'
import { recordPaid } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { askModels } from './metered.ts'

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
    return recordPaid(context, input, context.models.unrecorded, () => askModels(context, input))
  },
})

import { generateTextInput, generateTextOutput } from '../../models/language-model.ts'
import { operation } from '../../rpc/operation.ts'
import { askRecorded } from './ask-recorded.ts'
import { withOwnModels } from './own-models.ts'

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
    return askRecorded(await withOwnModels(context), input, input)
  },
})

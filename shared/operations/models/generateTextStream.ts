import { generateTextChunk, generateTextInput } from '../../models/language-model.ts'
import { operation } from '../../rpc/operation.ts'
import { withOwnModels } from './own-models.ts'
import { streamRecorded } from './stream-recorded.ts'

export const generateTextStream = operation({
  name: 'generateTextStream',
  description:
    'Like generateText, with the answer as the model writes it: one chunk on each line. The last one is `finished`, and ' +
    'has the metadata. An error before the first text is an answer with its status; one within is in the last chunk.',
  method: 'POST',
  path: '/v2/cognitive/generate-text-stream',
  access: 'bot',
  stability: 'experimental',
  errors: ['Runtime', 'ReferenceNotFound', 'PaymentRequired', 'RateLimited'],
  streamsLines: true,
  awaitsWorker: true,
  isRecordedByInput: true,
  changesNothing: true,
  input: generateTextInput,
  output: generateTextChunk,

  async handle(context, input) {
    return streamRecorded(await withOwnModels(context), input, input)
  },
})

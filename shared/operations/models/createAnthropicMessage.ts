import { anthropicMessages } from '../../llm/anthropic-messages.ts'
import { anthropicMessage, anthropicMessageInput, type AnthropicMessage } from '../../models/anthropic-message.ts'
import { operation } from '../../rpc/operation.ts'
import { askForLibrary } from './ask-for-library.ts'

export const createAnthropicMessage = operation({
  name: 'createAnthropicMessage',
  description:
    'Like generateText, in the language of Anthropic’s Messages API, for libraries that take a base URL: ' +
    '`/v2/cognitive/anthropic`. With `stream`, like generateTextStream.',
  method: 'POST',
  path: '/v2/cognitive/anthropic/v1/messages',
  access: 'bot',
  stability: 'experimental',
  errors: ['Runtime', 'ReferenceNotFound', 'PaymentRequired', 'RateLimited'],
  streamsLines: 'on request',
  lineFormat: anthropicMessages.lineFormat,
  isForLibraries: true,
  awaitsWorker: true,
  isRecordedByInput: true,
  changesNothing: true,
  input: anthropicMessageInput,
  output: anthropicMessage,

  handle: (context, input) => askForLibrary<typeof input, AnthropicMessage>(context, input, anthropicMessages),
})

import { chatCompletions } from '../../llm/chat-completions.ts'
import { chatCompletion, chatCompletionInput, type ChatCompletion } from '../../models/chat-completion.ts'
import { operation } from '../../rpc/operation.ts'
import { askForLibrary } from './ask-for-library.ts'

export const createChatCompletion = operation({
  name: 'createChatCompletion',
  description:
    'Like generateText, in the language of OpenAI’s Chat Completions API, for libraries that take a base URL: ' +
    '`/v2/cognitive/openai/v1`. With `stream`, like generateTextStream.',
  method: 'POST',
  path: '/v2/cognitive/openai/v1/chat/completions',
  access: 'bot',
  stability: 'experimental',
  errors: ['Runtime', 'ReferenceNotFound', 'PaymentRequired', 'RateLimited'],
  streamsLines: 'on request',
  lineFormat: chatCompletions.lineFormat,
  isForLibraries: true,
  awaitsWorker: true,
  isRecordedByInput: true,
  changesNothing: true,
  input: chatCompletionInput,
  output: chatCompletion,

  handle: (context, input) => askForLibrary<typeof input, ChatCompletion>(context, input, chatCompletions),
})

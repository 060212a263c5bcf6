import { operation } from '../../rpc/operation.ts'
import { showTyping as show, typingInput, typingOutput } from './show-typing.ts'

export const showTyping = operation({
  name: 'showTyping',
  description:
    'Shows the members who answer in a conversation that the caller types. While the bot answers, it changes nothing.',
  method: 'POST',
  path: '/chat/{webhookId}/conversations/{conversationId}/typing',
  access: 'user',
  stability: 'experimental',
  errors: ['Forbidden'],
  input: typingInput,
  output: typingOutput,

  async handle(context, input) {
    await show(context, input)
    return {}
  },
})

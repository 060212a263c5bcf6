import { hostile } from '../hostile.ts'

export default hostile({
  body: `await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: 'x'.repeat(2e6) } })`,
  outcome: 'hostCalls',
  failure: /1048576 characters/,
})

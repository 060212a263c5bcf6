import { hostile } from '../hostile.ts'

export default hostile({
  body: `state.conversation.text = 'x'.repeat(2e5)`,
  outcome: 'result',
  failure: /event\.state\.conversation has 196 KB, more than its maximum of 128 KB$/,
})

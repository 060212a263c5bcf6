import { hostile } from '../hostile.ts'

export default hostile({
  body: `state.conversation.text = 'x'.repeat(3e6)`,
  outcome: 'result',
  failure: /event\.state is too large$/,
})

import { hostile } from '../hostile.ts'

export default hostile({
  body: `state.conversation.text = 'x'.repeat(2e5)`,
  outcome: 'result',
  failure: /event\.state\.conversation has grown to 196 KB; it holds 128 KB$/,
})

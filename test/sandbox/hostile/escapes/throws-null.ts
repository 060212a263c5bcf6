import { hostile } from '../hostile.ts'

export default hostile({
  body: `throw null`,
  outcome: 'error',
  failure: /null/,
  replies: [],
})

import { hostile } from '../hostile.ts'

export default hostile({
  body: `throw undefined`,
  outcome: 'error',
  failure: /undefined/,
  replies: [],
})

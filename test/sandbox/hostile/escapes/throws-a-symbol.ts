import { hostile } from '../hostile.ts'

export default hostile({
  body: `throw Symbol('a sign')`,
  outcome: 'error',
  failure: /Symbol\(a sign\)/,
  replies: [],
})

import { hostile } from '../hostile.ts'

export default hostile({
  body: `return { get data() { throw new EvalError('from a getter') } }`,
  outcome: 'error',
  failure: /EvalError: from a getter/,
  replies: [],
})

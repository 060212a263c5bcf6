import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `let error = new Error('first'); for (let n = 0; n < 40; n++) error = new AggregateError([error, error], 'next'); throw error`,
  outcome: 'error',
  failure: /^afterIncomingMessage: AggregateError: next$/,
  ...withTime,
})

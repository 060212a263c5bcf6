import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `let error = new Error('first'); for (let n = 0; n < 5000; n++) error = new Error('next', { cause: error }); throw error`,
  outcome: 'error',
  failure: /^afterIncomingMessage: Error: next$/,
  ...withTime,
})

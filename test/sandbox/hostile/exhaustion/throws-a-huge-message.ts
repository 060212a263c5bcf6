import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `throw new Error('x'.repeat(2 ** 22))`,
  outcome: 'error',
  failure: /^afterIncomingMessage: Error: x{1000}$/,
  ...withTime,
})

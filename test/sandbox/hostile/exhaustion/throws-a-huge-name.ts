import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `throw Object.assign(new Error('fine'), { name: 'N'.repeat(2 ** 22) })`,
  outcome: 'error',
  failure: /^afterIncomingMessage: N{100}: fine$/,
  ...withTime,
})

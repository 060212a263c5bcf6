import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `let chain = {}; for (let n = 0; n < 1e5; n++) chain = new Proxy(chain, {}); chain.deeper`,
  outcome: 'error',
  failure: /RangeError: Maximum call stack size exceeded/,
  ...withTime,
})

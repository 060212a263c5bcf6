import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `let nested = []; for (let n = 0; n < 1e5; n++) nested = [nested]; nested.flat(Infinity)`,
  outcome: 'error',
  failure: /RangeError: Maximum call stack size exceeded/,
  ...withTime,
})

import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `eval('('.repeat(1e6) + ')'.repeat(1e6))`,
  outcome: 'error',
  failure: /RangeError: Maximum call stack size exceeded/,
  ...withTime,
})

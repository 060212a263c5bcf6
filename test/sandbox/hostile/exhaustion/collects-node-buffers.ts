import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const all = []; for (;;) all.push(Buffer.alloc(2 ** 20))`,
  outcome: 'error',
  failure: /allocation failed/,
  ...withTime,
})

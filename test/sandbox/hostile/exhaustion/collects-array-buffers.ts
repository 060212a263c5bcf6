import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const all = []; for (;;) all.push(new ArrayBuffer(2 ** 20))`,
  outcome: 'error',
  failure: /allocation failed/,
  ...withTime,
})

import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const all = []; for (;;) all.push(new Intl.NumberFormat('de'))`,
  outcome: 'error',
  failure: /may create at most 2000/,
  ...withTime,
})

import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const n = 7n ** 300_000n; for (;;) n.toString()`,
  ...outOfTime,
  kills: 'perhaps',
})

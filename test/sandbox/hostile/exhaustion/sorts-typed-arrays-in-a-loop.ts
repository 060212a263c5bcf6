import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const numbers = new Float64Array(1e6).map((_, n) => (n * 7919) % 1e6); for (;;) numbers.slice().sort()`,
  ...outOfTime,
  kills: 'perhaps',
})

import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const numbers = Array.from({ length: 1e4 }, (_, n) => (n * 7919) % 1e4); for (;;) numbers.toSorted((a, b) => a - b)`,
  ...outOfTime,
})

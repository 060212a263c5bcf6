import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const list = Array.from({ length: 1000 }, (_, n) => ({ n, all: [n] })); for (;;) structuredClone(list)`,
  ...outOfTime,
})

import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const list = Array.from({ length: 5000 }, (_, n) => ({ n })); for (;;) JSON.stringify(list)`,
  ...outOfTime,
})

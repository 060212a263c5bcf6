import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const text = JSON.stringify(Array.from({ length: 5000 }, (_, n) => n)); for (;;) JSON.parse(text)`,
  ...outOfTime,
})

import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (;;) { try { setTimeout(() => {}, 1000) } catch {} }`,
  ...outOfTime,
})

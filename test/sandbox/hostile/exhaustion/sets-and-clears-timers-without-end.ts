import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (;;) clearTimeout(setTimeout(() => {}, 1000))`,
  ...outOfTime,
})

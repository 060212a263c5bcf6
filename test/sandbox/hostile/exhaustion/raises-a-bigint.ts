import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `3n ** (1n << 26n)`,
  ...outOfTime,
  kills: true,
})

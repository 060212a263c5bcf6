import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `new Array(2 ** 32 - 2).indexOf(1)`,
  ...outOfTime,
  kills: true,
})

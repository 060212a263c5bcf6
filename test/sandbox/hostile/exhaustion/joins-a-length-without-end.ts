import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `Array.prototype.join.call({ length: 2 ** 32 - 1 }, '')`,
  ...outOfTime,
  kills: true,
})

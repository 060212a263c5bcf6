import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `setTimeout(() => {}, { [Symbol.toPrimitive]() { for (;;); } })`,
  ...outOfTime,
})

import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `throw new Proxy(new Error('x'), { get() { for (;;); } })`,
  ...outOfTime,
})

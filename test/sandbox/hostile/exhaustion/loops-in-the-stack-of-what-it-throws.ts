import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `throw Object.defineProperty(new Error('x'), 'stack', { get() { for (;;); } })`,
  ...outOfTime,
})

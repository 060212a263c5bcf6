import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `await Object.defineProperty(Promise.resolve(), 'constructor', { get() { for (;;); } })`,
  ...outOfTime,
})

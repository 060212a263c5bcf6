import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (;;) Promise.reject(new Error('x'))`,
  ...outOfTime,
})

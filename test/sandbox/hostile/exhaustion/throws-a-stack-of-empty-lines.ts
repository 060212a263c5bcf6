import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: String.raw`throw Object.assign(new Error('fine'), { stack: '\n'.repeat(2 ** 24) })`,
  ...outOfTime,
})

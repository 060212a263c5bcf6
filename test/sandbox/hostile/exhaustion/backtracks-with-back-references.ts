import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: String.raw`return /^(?=(a+)+$)(a+)+\1$/.test('a'.repeat(40) + '!')`,
  ...outOfTime,
})

import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `'a'.repeat(2e5).match(/(?=a*a*b)a*a*b/)`,
  ...outOfTime,
})

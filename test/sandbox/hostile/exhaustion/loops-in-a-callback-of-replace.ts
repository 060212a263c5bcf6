import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `'a'.replace(/a/, () => { for (;;); })`,
  ...outOfTime,
})

import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `JSON.parse('[1]', () => { for (;;); })`,
  ...outOfTime,
})

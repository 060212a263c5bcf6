import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `new Array(1e4).fill(0).sort(() => { for (;;); })`,
  ...outOfTime,
})

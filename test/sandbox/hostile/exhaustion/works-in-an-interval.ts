import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `setInterval(() => { for (let n = 0; n < 1e6; n++); }, 1); await new Promise(() => {})`,
  ...outOfTime,
})

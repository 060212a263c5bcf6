import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (let n = 0; ; n++) eval('1 + ' + n)`,
  ...outOfTime,
})

import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `Error.prepareStackTrace = () => { for (;;); }; throw new Error('x')`,
  ...outOfTime,
})

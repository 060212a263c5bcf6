import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const own = { then(resolve) { resolve(own) } }; return own`,
  ...outOfTime,
})

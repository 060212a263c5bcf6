import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const again = () => Promise.resolve().then(again); await again()`,
  ...outOfTime,
})

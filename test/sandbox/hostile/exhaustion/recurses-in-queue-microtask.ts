import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const again = () => queueMicrotask(again); again(); await new Promise(() => {})`,
  ...outOfTime,
})

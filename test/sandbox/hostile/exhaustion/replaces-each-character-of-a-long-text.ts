import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const text = 'a'.repeat(1e6); for (;;) text.replace(/a/g, 'bb')`,
  ...outOfTime,
  kills: 'perhaps',
})

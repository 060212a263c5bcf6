import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const text = '('.repeat(1e5); for (;;) Date.parse(text)`,
  ...outOfTime,
})

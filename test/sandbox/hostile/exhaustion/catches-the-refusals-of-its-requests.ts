import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (;;) await fetch('https://example.com/').catch(() => {})`,
  ...outOfTime,
})

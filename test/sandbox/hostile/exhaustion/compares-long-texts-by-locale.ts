import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const text = 'ä'.repeat(1e6); for (;;) text.localeCompare(text + 'b')`,
  ...outOfTime,
  kills: 'perhaps',
})

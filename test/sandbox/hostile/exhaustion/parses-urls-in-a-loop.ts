import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const text = 'http://' + 'a'.repeat(1000) + '.example/' + 'ä'.repeat(1000); for (;;) new URL(text)`,
  ...outOfTime,
})

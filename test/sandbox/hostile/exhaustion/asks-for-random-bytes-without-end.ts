import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const bytes = new Uint8Array(65536); for (;;) crypto.getRandomValues(bytes)`,
  ...outOfTime,
})

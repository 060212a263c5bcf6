import { outOfMemory } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const text = 'x'.repeat(1e5); for (let n = 0; ; n++) Symbol.for(text + n)`,
  ...outOfMemory,
  kills: 'perhaps',
})

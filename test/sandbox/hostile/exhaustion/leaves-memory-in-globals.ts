import { outOfMemory } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (let n = 0; ; n++) globalThis[n] = new Array(1000).fill(n)`,
  ...outOfMemory,
})

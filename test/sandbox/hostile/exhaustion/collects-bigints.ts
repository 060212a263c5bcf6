import { outOfMemory } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const all = []; for (;;) all.push(1n << 8_000_000n)`,
  ...outOfMemory,
})

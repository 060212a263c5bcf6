import { outOfMemory } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (;;) { const held = new Array(1000).fill(1); queueMicrotask(() => held) }`,
  ...outOfMemory,
})

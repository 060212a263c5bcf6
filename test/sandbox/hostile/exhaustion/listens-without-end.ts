import { outOfMemory } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const { signal } = new AbortController(); for (;;) { const held = new Array(1000).fill(1); signal.addEventListener('abort', () => held) }`,
  ...outOfMemory,
})

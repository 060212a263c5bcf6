import { outOfMemory } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const all = []; for (let n = 0; ; n++) { const text = 'x'.repeat(1e6) + n; /y/.test(text); all.push(text) }`,
  ...outOfMemory,
})

import { outOfMemory } from '../ends.ts'
import { hostile } from '../hostile.ts'

// V8 gives the isolate up for its memory, but the thread is in a builtin that does not notice, nor does the next.
export default hostile({
  body: `const one = 'x'.repeat(2 ** 26) + 'b'; const other = 'x'.repeat(2 ** 26) + 'c'; one < other; new Array(2 ** 32 - 2).indexOf(1)`,
  ...outOfMemory,
  kills: true,
})

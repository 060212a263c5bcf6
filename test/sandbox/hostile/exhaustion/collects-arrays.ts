import { outOfMemory } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const all = []; for (;;) all.push(new Array(1e4).fill(Math.random()))`,
  ...outOfMemory,
})

import { outOfMemory } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const all = []; const keep = (...values) => all.push(values); for (;;) keep(...new Array(5e4).fill(1))`,
  ...outOfMemory,
})

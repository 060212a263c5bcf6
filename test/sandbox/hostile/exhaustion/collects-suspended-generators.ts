import { outOfMemory } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `function* hold(held) { yield held } const all = []; for (;;) { const one = hold(new Array(1000).fill(1)); one.next(); all.push(one) }`,
  ...outOfMemory,
})

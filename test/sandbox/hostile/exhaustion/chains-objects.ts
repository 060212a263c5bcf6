import { outOfMemory } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `let chain = null; for (;;) chain = { chain, held: new Array(1000).fill(1) }`,
  ...outOfMemory,
})

import { outOfMemory } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const map = new Map(); for (let n = 0; ; n++) map.set(n, n)`,
  ...outOfMemory,
  kills: 'perhaps',
})

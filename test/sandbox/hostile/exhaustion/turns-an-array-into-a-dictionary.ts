import { outOfMemory } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const sparse = []; for (let n = 0; ; n++) sparse[n * 5000] = n`,
  ...outOfMemory,
  kills: 'perhaps',
})

import { outOfMemory } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `let all = [1]; for (;;) all = all.concat(all)`,
  ...outOfMemory,
  kills: 'perhaps',
})

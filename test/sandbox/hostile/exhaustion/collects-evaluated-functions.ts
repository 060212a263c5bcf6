import { outOfMemory } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const all = []; for (let n = 0; ; n++) all.push(eval('(() => "' + 'x'.repeat(1e5) + n + '")'))`,
  ...outOfMemory,
  kills: 'perhaps',
})

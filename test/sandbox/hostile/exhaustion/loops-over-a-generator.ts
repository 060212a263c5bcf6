import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `function* endless() { for (;;) yield 1 } for (const one of endless());`,
  ...outOfTime,
})

import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `async function* endless() { for (;;) yield 1 } for await (const one of endless());`,
  ...outOfTime,
})

import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (;;) { try { for (;;); } catch {} finally { continue } }`,
  ...outOfTime,
})

import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `outer: for (;;) { try { return } finally { continue outer } }`,
  ...outOfTime,
})

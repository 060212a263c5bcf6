import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (;;) console.log('x')`,
  ...outOfTime,
  logs: [/^warn: logs: The log is truncated here: an event may log 1000 lines and 262144 characters/],
})

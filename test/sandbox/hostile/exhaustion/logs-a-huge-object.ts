import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `logger.info(Array.from({ length: 1e5 }, (_, n) => ({ n })))`,
  outcome: 'done',
  logs: [/^info: \[\s*\{ n: 0 \}/],
  ...withTime,
})

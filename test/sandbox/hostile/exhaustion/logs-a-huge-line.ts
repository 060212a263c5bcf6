import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `logger.info('x'.repeat(2 ** 22))`,
  outcome: 'done',
  logs: [/^info: x{4095}…$/],
  ...withTime,
})

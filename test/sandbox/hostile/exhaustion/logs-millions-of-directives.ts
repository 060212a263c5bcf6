import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (;;) logger.info('%s'.repeat(1e5), 1)`,
  ...outOfTime,
})

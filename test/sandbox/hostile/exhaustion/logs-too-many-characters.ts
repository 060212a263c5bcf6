import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (let n = 0; n < 100; n++) logger.info('x'.repeat(4000))`,
  outcome: 'done',
  logs: [
    /^info: x{4000}$/,
    /^warn: logs: The log is truncated here: an event may log 1000 lines and 262144 characters/,
  ],
})

import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (let n = 0; n < 5000; n++) logger.info(n)`,
  outcome: 'done',
  logs: [/^info: 999$/, /^warn: logs: The log is truncated here: an event may log 1000 lines and 262144 characters/],
})

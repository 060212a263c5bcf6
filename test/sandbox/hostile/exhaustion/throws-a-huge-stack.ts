import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: String.raw`throw Object.assign(new Error('fine'), { stack: '    at bot.js:1:1\n'.repeat(1e5) })`,
  outcome: 'error',
  failure: /^afterIncomingMessage: Error: fine$/,
  ...withTime,
})

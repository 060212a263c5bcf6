import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `await fetch('https://example.com/', { method: 'POST', body: 'x'.repeat(3e6) })`,
  outcome: 'error',
  failure: /example.com is not among the hosts that may be requested/,
  ...withTime,
})

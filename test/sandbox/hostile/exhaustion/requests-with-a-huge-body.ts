import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `await fetch('https://example.com/', { method: 'POST', body: 'x'.repeat(3e6) })`,
  outcome: 'error',
  failure: /may not be requested/,
  ...withTime,
})

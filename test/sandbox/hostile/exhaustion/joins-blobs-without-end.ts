import { hostile } from '../hostile.ts'
import { withTime } from '../ends.ts'

export default hostile({
  body: `let blob = new Blob(['x'.repeat(1e5)]); for (;;) blob = new Blob([blob, blob])`,
  outcome: 'error',
  failure: /allocation failed/,
  ...withTime,
})

import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const segments = new Intl.Segmenter('en').segment('x'.repeat(1e5)); const all = []; for (;;) all.push(segments[Symbol.iterator]())`,
  outcome: 'error',
  failure: /may create at most 2000/,
  ...withTime,
})

import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const segmenter = new Intl.Segmenter('en'); const all = []; for (;;) all.push(segmenter.segment('x'.repeat(1e5)))`,
  outcome: 'error',
  failure: /may create at most 2000/,
  ...withTime,
})

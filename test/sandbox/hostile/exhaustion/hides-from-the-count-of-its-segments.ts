import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

/** The iterators of segments are counted from the first segments on: it has the counting fail there. */
export default hostile({
  body: `const segmenter = new Intl.Segmenter('en')
    Object.prototype.get = () => {}
    try { segmenter.segment('x') } catch {}
    delete Object.prototype.get
    const segments = segmenter.segment('x'.repeat(1e6))
    const all = []
    for (;;) all.push(segments[Symbol.iterator]())`,
  outcome: 'error',
  failure: /may create at most 2000/,
  ...withTime,
})

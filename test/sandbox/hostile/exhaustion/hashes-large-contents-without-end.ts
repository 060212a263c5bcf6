import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

/** The process around the isolate computes these, and its run is charged for that. */
export default hostile({
  sdk: true,
  body: `
    const crypto = require('crypto')
    const content = Buffer.alloc(2 ** 22)
    for (;;) {
      try {
        crypto.createHash('sha512').update(content).digest()
      } catch {}
    }`,
  ...outOfTime,
  replies: [],
})

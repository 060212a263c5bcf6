import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

/** Each of them takes the process around the isolate half a second. */
export default hostile({
  sdk: true,
  body: `
    const crypto = require('crypto')
    for (;;) {
      try {
        crypto.pbkdf2Sync('password', 'salt', 1000000, 64, 'sha512')
      } catch {}
    }`,
  ...outOfTime,
  replies: [],
})

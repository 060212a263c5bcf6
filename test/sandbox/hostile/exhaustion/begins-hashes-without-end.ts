import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  sdk: true,
  body: `
    const crypto = require('crypto')
    const content = Buffer.alloc(2 ** 13)
    const begun = []
    for (;;) begun.push(crypto.createHash('md5').update(content))`,
  ...outOfTime,
  replies: [],
})

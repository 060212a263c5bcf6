import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  sdk: true,
  body: `
    const { scrypt } = require('crypto')
    for (;;) {
      for (let count = 0; count < 100; count += 1) scrypt('password', 'salt', 64, { N: 2 ** 15, r: 8 }, () => {})
      await null
    }`,
  ...outOfTime,
  replies: [],
})

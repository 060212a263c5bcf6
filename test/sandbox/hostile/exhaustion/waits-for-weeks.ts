import { hostile } from '../hostile.ts'

export default hostile({
  body: `await new Promise((resolve) => setTimeout(resolve, 2 ** 31 - 1))`,
  outcome: 'timeout',
  failure: /It did not end within 1000 ms/,
  upload: { limits: { wallMilliseconds: 1000 } },
})

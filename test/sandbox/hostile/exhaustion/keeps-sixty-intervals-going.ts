import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (let n = 0; n < 60; n++) setInterval(() => {}, 30); await new Promise(() => {})`,
  outcome: 'timeout',
  failure: /It did not end within 1000 ms/,
  upload: { limits: { wallMilliseconds: 1000 } },
})

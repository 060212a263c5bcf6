import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (let n = 0; n < 60; n++) setInterval(() => {}, 30); await new Promise(() => {})`,
  outcome: 'timeout',
  failure: /It did not end within the 1000 ms it has/,
  upload: { limits: { wallMilliseconds: 1000 } },
})

import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (;;) AbortSignal.timeout(1000)`,
  outcome: 'timers',
  failure: /64 timers/,
})

import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (;;) setTimeout(() => {}, 1000)`,
  outcome: 'timers',
  failure: /64 timers/,
})

import { hostile } from '../hostile.ts'

export default hostile({
  body: `throw 10n ** 100n`,
  outcome: 'error',
  failure: /10{100}n/,
  replies: [],
})

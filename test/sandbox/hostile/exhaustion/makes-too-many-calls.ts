import { hostile } from '../hostile.ts'

export default hostile({
  body: `const calls = Array.from({ length: 1001 }, () => client.getUser({ id: event.userId })); await calls[1000]`,
  outcome: 'hostCalls',
  failure: /\b1000 calls/,
})

import { hostile } from '../hostile.ts'

export default hostile({
  body: `throw new Proxy({}, { get() { throw new Proxy({}, { get() { throw 1 } }) } })`,
  outcome: 'error',
  failure: /cannot be described/,
  replies: [],
})

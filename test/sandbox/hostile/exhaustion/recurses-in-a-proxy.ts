import { hostile } from '../hostile.ts'

export default hostile({
  body: `new Proxy({}, { get: (_, name, receiver) => receiver[name] }).deeper`,
  outcome: 'error',
  failure: /RangeError: Maximum call stack size exceeded/,
})

import { hostile } from '../hostile.ts'

export default hostile({
  body: `const own = { get deeper() { return this.deeper } }; own.deeper`,
  outcome: 'error',
  failure: /RangeError: Maximum call stack size exceeded/,
})

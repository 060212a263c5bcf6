import { hostile } from '../hostile.ts'

export default hostile({
  body: `const deeper = () => deeper() + 1; deeper()`,
  outcome: 'error',
  failure: /RangeError: Maximum call stack size exceeded/,
})

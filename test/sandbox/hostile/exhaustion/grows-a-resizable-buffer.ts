import { hostile } from '../hostile.ts'

export default hostile({
  body: `const buffer = new ArrayBuffer(8, { maxByteLength: 2 ** 31 }); buffer.resize(2 ** 31)`,
  outcome: 'error',
  failure: /resize is not a function/,
})

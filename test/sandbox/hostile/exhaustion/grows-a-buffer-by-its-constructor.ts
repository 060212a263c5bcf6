import { hostile } from '../hostile.ts'

export default hostile({
  body: `const Native = new Uint8Array(1).buffer.constructor; new Native(8, { maxByteLength: 2 ** 31 }).resize(2 ** 31)`,
  outcome: 'error',
  failure: /resize is not a function/,
})

import { hostile } from '../hostile.ts'

export default hostile({
  body: `let buffer = new ArrayBuffer(1); for (;;) buffer = buffer.transfer(buffer.byteLength * 2)`,
  outcome: 'error',
  failure: /transfer is not a function/,
})

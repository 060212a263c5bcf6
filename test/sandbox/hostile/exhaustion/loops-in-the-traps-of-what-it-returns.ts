import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const loop = () => { for (;;); }; return new Proxy({}, { get: loop, has: loop, getOwnPropertyDescriptor: loop })`,
  ...outOfTime,
})

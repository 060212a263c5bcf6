import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const loop = () => { for (;;); }; console.log(new Proxy({}, { ownKeys: loop, get: loop, getPrototypeOf: loop }))`,
  ...outOfTime,
})

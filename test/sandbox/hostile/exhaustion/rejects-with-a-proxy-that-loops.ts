import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `Promise.reject(new Proxy({}, { get() { for (;;); } })); await new Promise(() => {})`,
  ...outOfTime,
  kills: true,
})

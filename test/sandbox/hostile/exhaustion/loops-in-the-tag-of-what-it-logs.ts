import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `console.log({ get [Symbol.toStringTag]() { for (;;); } })`,
  ...outOfTime,
})

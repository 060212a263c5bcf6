import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `class List extends Array { static get [Symbol.species]() { for (;;); } }; new List(3).map(String)`,
  ...outOfTime,
})

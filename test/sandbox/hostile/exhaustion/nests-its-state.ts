import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `let nested = {}; for (let n = 0; n < 3e5; n++) nested = { nested }; state.user = nested`,
  ...outOfTime,
})

import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const again = () => { for (let n = 0; n < 1e6; n++); setTimeout(again, 0) }; again(); await new Promise(() => {})`,
  ...outOfTime,
})

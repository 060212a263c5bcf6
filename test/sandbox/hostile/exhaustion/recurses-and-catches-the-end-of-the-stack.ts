import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const deeper = () => { try { deeper() } catch { deeper() } }; deeper()`,
  ...outOfTime,
})

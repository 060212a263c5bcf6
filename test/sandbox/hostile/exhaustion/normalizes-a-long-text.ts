import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: String.raw`const text = '\uFDFA'.repeat(2 ** 22); for (;;) text.normalize('NFKC')`,
  ...outOfTime,
  kills: 'perhaps',
})

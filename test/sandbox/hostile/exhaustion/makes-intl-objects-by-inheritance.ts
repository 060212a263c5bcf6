import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `class Format extends Intl.Collator {} const all = []; for (;;) all.push(Reflect.construct(Intl.Collator, ['de'], Format))`,
  outcome: 'error',
  failure: /may create at most 2000/,
  ...withTime,
})

import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const locale = new Intl.Locale('de'); const all = []; for (;;) all.push(locale.maximize())`,
  outcome: 'error',
  failure: /may create at most 2000/,
  ...withTime,
})

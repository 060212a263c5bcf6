import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const format = new Intl.DateTimeFormat('de', { timeZone: 'Asia/Tokyo' }); for (;;) format.format(0)`,
  ...outOfTime,
})

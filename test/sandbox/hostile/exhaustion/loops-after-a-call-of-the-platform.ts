import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `await client.getUser({ id: event.userId }); for (;;);`,
  ...outOfTime,
})

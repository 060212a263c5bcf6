import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `void (async () => { await client.getUser({ id: event.userId }); for (;;) await client.getUser({}).catch(() => {}) })()`,
  ...outOfTime,
})

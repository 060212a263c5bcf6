import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `await client.createMessage({ get conversationId() { for (;;); } })`,
  ...outOfTime,
})

import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `let nested = {}; for (let n = 0; n < 3e5; n++) nested = { nested }; await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: nested })`,
  ...outOfTime,
})

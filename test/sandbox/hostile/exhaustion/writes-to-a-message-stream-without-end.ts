import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const stream = client.streamMessage(event.conversationId); for (;;) stream.write('x').catch(() => {})`,
  ...outOfTime,
})

import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `for await (const one of new ReadableStream({ pull(controller) { controller.enqueue(1) } }));`,
  ...outOfTime,
})

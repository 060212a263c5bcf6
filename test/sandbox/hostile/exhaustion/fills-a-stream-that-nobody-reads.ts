import { outOfMemory } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `new ReadableStream({ start(controller) { for (;;) controller.enqueue(new Array(1000).fill(1)) } })`,
  ...outOfMemory,
})

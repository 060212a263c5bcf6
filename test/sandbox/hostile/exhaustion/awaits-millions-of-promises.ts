import { outOfMemory } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `await Promise.all(Array.from({ length: 1e7 }, async () => { await null }))`,
  ...outOfMemory,
})

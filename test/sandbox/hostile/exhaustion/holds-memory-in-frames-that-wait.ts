import { outOfMemory } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const deeper = async (n) => { const held = new Array(1000).fill(n); await null; return (await deeper(n + 1)) + held.length }; await deeper(0)`,
  ...outOfMemory,
})

import { outOfMemory } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `const text = 'ab'.repeat(2 ** 24); state.user = { text: text + text }`,
  ...outOfMemory,
  kills: 'perhaps',
})

import { hostile } from '../hostile.ts'

export default hostile({
  body: `event.payload = { text: 'x'.repeat(2 ** 28), list: new Array(1e5).fill({}) }; event.extra = event`,
  outcome: 'done',
  replies: [],
})

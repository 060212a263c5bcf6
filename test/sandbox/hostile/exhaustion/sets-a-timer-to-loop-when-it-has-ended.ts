import { hostile } from '../hostile.ts'

export default hostile({
  body: `setTimeout(() => { for (;;); }, 1)`,
  outcome: 'done',
  replies: [],
})

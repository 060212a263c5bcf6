import { hostile } from '../hostile.ts'

export default hostile({
  body: `void Promise.resolve().then(async () => { for (;;) await null })`,
  outcome: 'done',
  replies: [],
})

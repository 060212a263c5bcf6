import { hostile } from '../hostile.ts'

/** Nothing is under way when the hook is through: what it has dropped is not waited for. */
export default hostile({
  body: `
    setTimeout(() => say('from a timer'), 60)
    setInterval(() => say('from an interval'), 50)
    void (async () => { for (;;) { await new Promise((resolve) => setTimeout(resolve, 40)); await say('from a dropped promise') } })()
    void (async () => { for (let n = 0; n < 2000; n += 1) await null; await say('from many promises') })()`,
  later: `await new Promise((resolve) => setTimeout(resolve, 150))`,
  outcome: 'done',
  replies: [],
})

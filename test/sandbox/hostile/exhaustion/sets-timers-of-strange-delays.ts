import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (const delay of [0, -5, NaN, -Infinity, Infinity, 2 ** 40, '10', {}, null, undefined]) await new Promise((resolve) => setTimeout(resolve, delay)); await say('woken')`,
  outcome: 'done',
  replies: ['woken'],
})

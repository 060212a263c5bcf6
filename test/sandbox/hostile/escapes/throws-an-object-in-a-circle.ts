import { hostile } from '../hostile.ts'

export default hostile({
  body: `throw (() => { const circle = { name: 7, stack: 7 }; circle.message = circle; circle.cause = circle; return circle })()`,
  outcome: 'error',
  failure: /Circular/,
  replies: [],
})

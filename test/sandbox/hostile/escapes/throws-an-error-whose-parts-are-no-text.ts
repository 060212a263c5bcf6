import { hostile } from '../hostile.ts'

export default hostile({
  body: `throw Object.assign(new Error('x'), { name: { toString() { throw 1 } }, message: Symbol('m'), stack: [] })`,
  outcome: 'error',
  failure: /Error/,
  replies: [],
})

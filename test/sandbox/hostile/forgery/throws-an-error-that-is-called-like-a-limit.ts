import { hostile } from '../hostile.ts'

/** Who met a limit is known by the kernel, and not by what an error says of itself. */
export default hostile({
  body: `throw Object.assign(new Error('It used more than its 400 ms of processor time'), { name: 'cpu', reason: 'cpu', code: 'cpu', type: 'cpu' })`,
  outcome: 'error',
  failure: /^afterIncomingMessage: cpu: It used/,
  replies: [],
})

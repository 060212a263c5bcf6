import { hostile } from '../hostile.ts'

/** The kernel knows which run has exceeded a limit; the fields of an error do not decide it. */
export default hostile({
  body: `throw Object.assign(new Error('It used more than its 400 ms of processor time'), { name: 'cpu', reason: 'cpu', code: 'cpu', type: 'cpu' })`,
  outcome: 'error',
  failure: /^afterIncomingMessage: cpu: It used/,
  replies: [],
})

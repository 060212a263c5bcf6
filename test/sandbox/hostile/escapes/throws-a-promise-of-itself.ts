import { hostile } from '../hostile.ts'

export default hostile({
  body: `throw (() => { const promise = Promise.reject(1); promise.catch(() => {}); return promise })()`,
  outcome: 'error',
  failure: /Promise/,
  replies: [],
})

import { hostile } from '../hostile.ts'

export default hostile({
  body: `throw (() => { const { proxy, revoke } = Proxy.revocable(() => {}, {}); revoke(); return proxy })()`,
  outcome: 'error',
  failure: /cannot be described/,
  replies: [],
})

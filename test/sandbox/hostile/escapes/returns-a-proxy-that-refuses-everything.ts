import { hostile } from '../hostile.ts'

export default hostile({
  body: `return new Proxy({}, new Proxy({}, { get(_, trap) { if (trap === 'get') return () => undefined; throw new SyntaxError('trapped ' + trap) } }))`,
  outcome: 'error',
  failure: /SyntaxError: trapped getOwnPropertyDescriptor/,
  replies: [],
})

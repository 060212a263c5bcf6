import { hostile } from '../hostile.ts'

/** These rejections are forgotten: isolated-vm itself looks at them. */
export default hostile({
  body: `
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    for (const value of [undefined, null, Symbol('s'), 1n, proxy, new Proxy({}, { get() { throw new Error('trap') }, getPrototypeOf() { throw new Error('trap') } }), { get stack() { throw new Error('getter') } }, { toString() { throw 1 } }, Object.create(null), Object.defineProperty(new Error('x'), 'message', { get() { throw 1 } })])
      Promise.reject(value)
    await new Promise((resolve) => setTimeout(resolve, 10))
    await say('still here')`,
  outcome: 'done',
  replies: ['still here'],
  logs: [/^error: Unhandled rejection/],
})

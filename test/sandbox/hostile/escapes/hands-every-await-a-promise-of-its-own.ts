import { hostile } from '../hostile.ts'
import { spying } from '../spying.ts'

/** Code that replaces `then` and `constructor` receives the values that are awaited. */
export default hostile({
  before: spying,
  body: `
    const { then } = Promise.prototype
    const { constructor } = Promise.prototype
    Promise.prototype.then = function (...values) { look(this, ...values); return Reflect.apply(then, this, [(value) => { look(value); return values[0]?.(value) }, values[1]]) }
    class Other extends Promise {}
    Object.defineProperty(Promise.prototype, 'constructor', { configurable: true, get() { look(this); return Other } })
    await work({ event, client, state, logger })
    Object.defineProperty(Promise.prototype, 'constructor', { configurable: true, writable: true, value: constructor })
    Promise.prototype.then = then
    await say(looks > 5)
    await say(caught)`,
  outcome: 'done',
  replies: ['true', 'nothing'],
})

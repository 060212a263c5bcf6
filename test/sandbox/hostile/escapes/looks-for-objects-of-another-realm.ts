import { hostile } from '../hostile.ts'
import { reach } from '../reach.ts'

export default hostile({
  before: reach,
  body: `
    const strangers = []
    const count = reach({ event, client, state, logger, console, setTimeout, error: new Error('x'), globalThis }, (value, path) => {
      let top = value
      while (Object.getPrototypeOf(top) !== null) top = Object.getPrototypeOf(top)
      if (top !== Object.prototype && top !== value && Object.hasOwn(top, 'hasOwnProperty')) strangers.push(path)
      if (typeof value === 'function' && !(value instanceof Function) && value !== Function.prototype) strangers.push(path)
    })
    await say(strangers.join())
    await say(count > 1000)`,
  outcome: 'done',
  replies: ['nothing', 'true'],
})

import { hostile } from '../hostile.ts'
import { reach } from '../reach.ts'

/** A function of the host would be native, and none of the language. */
export default hostile({
  before: reach,
  body: String.raw`
    const isNative = (value) => typeof value === 'function' && /\{ \[native code\] \}$/.test(Function.prototype.toString.call(value))
    const own = new Set()
    reach({ Object, Function, Error, Promise, Date, Symbol, Iterator: [].values(), async: async () => {}, generator: (function* () {})() }, (value) => own.add(value))
    const foreign = []
    let natives = 0
    reach({ event, client, state, logger, console, setTimeout, setInterval, clearTimeout, queueMicrotask }, (value, path) => {
      if (!isNative(value)) return
      natives += 1
      if (!own.has(value)) foreign.push(path)
    })
    await say(foreign.join())
    await say(natives > 30)`,
  outcome: 'done',
  replies: ['nothing', 'true'],
})

import { hostile } from '../hostile.ts'
import { reach } from '../reach.ts'

export default hostile({
  before: reach,
  body: `
    const found = new Set()
    let functions = 0
    const count = reach({ event, client, state, logger, console, setTimeout, queueMicrotask, error: new Error('x'), globalThis }, (value, path) => {
      if (typeof value !== 'function') return
      functions += 1
      for (const maker of [value.constructor, Object.getPrototypeOf(value)?.constructor]) {
        try {
          found.add(maker('return [typeof process, typeof module, typeof _ivm, typeof global, this === globalThis].join()')())
        } catch {}
      }
    })
    await say([...found].filter((text) => typeof text === 'string').join(' | '))
    await say(functions > 300)`,
  outcome: 'done',
  replies: ['undefined,undefined,undefined,undefined,true', 'true'],
})

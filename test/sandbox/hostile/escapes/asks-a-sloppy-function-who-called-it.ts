import { hostile } from '../hostile.ts'

/** Functions of sloppy code know their callers, unless those are strict: the kernel has to be. */
export default hostile({
  before: `
    const callers = []
    const make = (rest) => new Function('seen', 'return function spy() { seen(spy.caller, () => arguments.callee.caller); ' + rest + ' }')(
      (caller, deep) => { callers.push(caller); try { callers.push(deep()) } catch {} })`,
  body: `
    const spy = make('return "x"')
    new Function('spy', 'return function known() { return spy() }')(spy)()
    const positive = callers.splice(0).filter((caller) => typeof caller === 'function').length
    const getter = (name) => Object.defineProperty({}, name, { get: spy, enumerable: true })
    logger.info('%s %j', getter('message'), { toJSON: spy })
    logger.info('%d %s', { valueOf: spy }, Object.defineProperty(new Error('x'), 'name', { get: spy }))
    await client.getUser({ id: event.userId, toJSON: spy }).catch(() => {})
    await client.getUser(getter('id')).catch(() => {})
    await new Promise((resolve) => { setTimeout(spy, 1); setTimeout(resolve, 5) })
    queueMicrotask(spy)
    try { setTimeout(() => {}, { valueOf: spy }) } catch {}
    await say(positive > 0)
    await say(callers.length >= 5 && callers.filter((caller) => caller != null).length)`,
  outcome: 'done',
  replies: ['true', '0'],
})

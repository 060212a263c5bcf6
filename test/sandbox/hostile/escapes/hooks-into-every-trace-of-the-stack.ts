import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const files = new Set()
    const given = []
    Error.stackTraceLimit = Infinity
    Error.prepareStackTrace = (error, sites) => {
      for (const site of sites) {
        files.add(String(site.getFileName()).replace(/^prelude$/, 'kernel'))
        if (site.getFileName() !== 'bot.js') given.push(site.getThis(), site.getFunction())
      }
      throw new Proxy({}, { get() { throw error } })
    }
    const capture = (value) => { try { Error.captureStackTrace(value); return String(value.stack) } catch { return 'refused' } }
    const targets = [{}, [], () => {}, client, logger, event, globalThis, new Proxy({}, {}), Object.freeze({}), client.getUser, setTimeout, console]
    targets.map(capture)
    await client.getUser({ id: 'nobody' }).catch((error) => { try { void error.stack } catch {} })
    await fetch('http://127.0.0.1/').catch((error) => { try { void error.stack } catch {} })
    await new Promise((resolve) => setTimeout(() => { capture({}); resolve() }, 1))
    delete Error.prepareStackTrace
    await say([...files].filter((name) => !['bot.js', 'kernel', 'null', 'undefined'].includes(name)).join())
    await say(files.has('bot.js') && given.length > 5)
    await say(given.filter((value) => value !== undefined && value !== globalThis).length)
    throw Object.assign(new Error('after all'), { stack: { toString() { throw 1 } } })`,
  outcome: 'error',
  failure: /after all/,
  replies: ['nothing', 'true', '0'],
})

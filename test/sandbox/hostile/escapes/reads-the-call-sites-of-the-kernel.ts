import { hostile } from '../hostile.ts'

/** A call site of sloppy code gives its function and its `this` away. */
export default hostile({
  body: `
    const sites = []
    Error.prepareStackTrace = (_, trace) => { sites.push(...trace); return 'a stack' }
    // A strict function above them in the stack would hide those of sloppy ones.
    const look = new Function("void new Error('look').stack; return 'x'")
    logger.info('%s %j', { get message() { return look() } }, { toJSON: look })
    await client.getUser({ toJSON: look }).catch(() => {})
    await client.getUser({}).catch((error) => error.stack)
    await client.getUser({ id: 'nobody' }).catch((error) => error.stack)
    await new Promise((resolve) => setTimeout(() => { look(); resolve() }, 1))
    await new Promise((resolve) => queueMicrotask(() => { look(); resolve() }))
    const known = new Function('return (function known(look) { look() })')()
    known(look)
    const kernel = sites.filter((site) => site.getFileName() === 'kernel')
    const given = (all) => all.filter((site) => site.getFunction() !== undefined || site.getThis() !== undefined).length
    await say(kernel.length > 5)
    await say(given(kernel))
    await say(given(sites) > 0)
    await say([...new Set(sites.map((site) => site.getFileName() ?? 'none'))].sort().join())`,
  outcome: 'done',
  replies: ['true', '0', 'true', 'bot.js,kernel,none'],
})

import { hostile } from '../hostile.ts'

/** The kernel took what it uses before any bundle ran. */
export default hostile({
  body: `
    const globals = (0, eval)('this')
    const asked = new Set()
    const kept = Object.entries(Object.getOwnPropertyDescriptors(globals))
    let watching = false
    for (const [name, { value, configurable }] of kept) {
      if (!configurable) continue
      Object.defineProperty(globals, name, { configurable: true, get() { if (watching) asked.add(name); return value } })
    }
    const { Map, Date, Error } = globals
    const values = ['%s %d %i %f %j %o %c %%', 'text', 'no number', {}, 1.5, { a: [1] }, new Map([[1, 2]]), '', new Date(0), new Error('shown'), 10n, Symbol('s'), -0, () => {}]
    watching = true
    logger.info(...values)
    const found = client.getUser({ id: event.userId })
    const missing = client.getUser({ id: 'nobody' })
    const stream = client.streamMessage(event.conversationId)
    await found
    await missing.then(() => {}, () => {})
    await stream.write('x')
    await stream.abort()
    watching = false
    const inKernel = [...asked].join()
    watching = true
    void Math
    await say(inKernel)
    await say(asked.has('Math'))`,
  outcome: 'done',
  replies: ['nothing', 'true'],
})

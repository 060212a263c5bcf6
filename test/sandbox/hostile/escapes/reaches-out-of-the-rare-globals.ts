import { hostile } from '../hostile.ts'
import { reach } from '../reach.ts'

/** Channels, timelines and the names of what is not there: each object of theirs, and what their events carry. */
export default hostile({
  before: reach,
  body: `
    const refused = [WebSocket, PerformanceObserver, PerformanceObserverEntryList, PerformanceResourceTiming].filter((Refused) => {
      try { return Boolean(new Refused('wss://a.example', () => {})) } catch ({ code }) { return code !== 'ERR_METHOD_NOT_IMPLEMENTED' }
    })
    const { port1, port2 } = new MessageChannel()
    const message = new Promise((resolve) => { port2.onmessage = resolve })
    port1.postMessage({ n: 1 })
    const broadcast = [new BroadcastChannel('a'), new BroadcastChannel('a')]
    const found = new Set()
    const constructors = new Set()
    const roots = { port1, message: await message, broadcast, performance, mark: performance.mark('a'), navigator, crypto,
      pattern: new URLPattern({ pathname: '/:a' }).exec('https://a.example/b'), packed: new CompressionStream('gzip'), MessageEvent, CloseEvent, Performance }
    const many = reach(roots, (value, path) => {
      if (typeof value === 'function' && ['Reference', 'Isolate', 'Context', 'ExternalCopy', 'Callback', 'SharedArrayBuffer'].includes(value.name)) found.add(path)
      try {
        const made = value.constructor.constructor('return typeof process + typeof require + typeof module')()
        if (made !== 'undefined'.repeat(3)) constructors.add(path)
      } catch {}
    })
    await say([refused.length, [...found].join(), [...constructors].join(), many > 200].join('|'))`,
  outcome: 'done',
  replies: ['0|||true'],
})

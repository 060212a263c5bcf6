import { describe, expect, test } from 'vitest'
import { groupsFor, refusedGlobals } from '#sandbox/prelude/groups.ts'
import { bot, callRun, done, sdkBot } from '../fixture.ts'
import { inBoth, sandboxOfFile, testAsInNode } from './compare.ts'

const sandbox = sandboxOfFile()

/** The result of a bundle of the public SDK, as most that name these globals are. */
async function inSdkBundle(body: string): Promise<unknown> {
  const code = `exports.handler = async () => ({ body: JSON.stringify(await (async () => { ${body} })()) })`
  const { result } = done(await sandbox().run(callRun(sdkBot(code))))
  return JSON.parse((result as { body: string }).body)
}

describe('channels of messages do what they do in Node', () => {
  testAsInNode(sandbox, [
    [
      'messages in their order, as copies',
      `const { port1, port2 } = new MessageChannel(); const sent = { n: [1] }; const seen = []; const all = new Promise((resolve) => { port2.onmessage = ({ data }) => { seen.push(data); if (seen.length === 2) { port2.close(); resolve() } } }); port1.postMessage(sent); sent.n.push(2); port1.postMessage('b'); await all; return [seen, seen[0] === sent]`,
    ],
    [
      'a reply',
      `const { port1, port2 } = new MessageChannel(); port2.onmessage = ({ data }) => port2.postMessage(data * 2); const reply = await new Promise((resolve) => { port1.onmessage = ({ data, ports, type }) => resolve([data, ports.length, type]) ; port1.postMessage(21) }); port1.close(); return reply`,
    ],
    [
      'messages that wait for the start',
      `const { port1, port2 } = new MessageChannel(); const seen = []; port1.postMessage('early'); await new Promise((resolve) => setTimeout(resolve, 20)); const arrived = new Promise((resolve) => port2.addEventListener('message', ({ data }) => resolve(data))); port2.start(); return [await arrived, port1.close()]`,
    ],
    [
      'after microtasks',
      `const { port1, port2 } = new MessageChannel(); const seen = []; const arrived = new Promise((resolve) => { port2.onmessage = () => { seen.push('message'); resolve() } }); port1.postMessage(1); queueMicrotask(() => seen.push('microtask')); seen.push('now'); await arrived; port1.close(); return seen`,
    ],
    [
      'a port that is closed',
      `const { port1, port2 } = new MessageChannel(); let seen = 0; port2.onmessage = () => { seen += 1 }; const closed = new Promise((resolve) => port2.addEventListener('close', () => resolve('closed'))); port1.close(); port1.postMessage(1); return [await closed, seen]`,
    ],
    ['what cannot be copied', `new MessageChannel().port1.postMessage(() => {})`],
    ['a port without a channel', `new MessagePort()`],
    [
      'a broadcast',
      `const [one, other, third] = ['a', 'a', 'b'].map((name) => new BroadcastChannel(name)); const seen = []; third.onmessage = () => seen.push('third'); one.onmessage = () => seen.push('one'); const data = await new Promise((resolve) => { other.onmessage = ({ data }) => resolve(data); one.postMessage({ n: 1 }) }); for (const channel of [one, other, third]) channel.close(); return [data, seen, one.name]`,
    ],
    ['a broadcast that is closed', `const one = new BroadcastChannel('a'); one.close(); one.postMessage(1)`],
    [
      'events of messages and closings',
      `const message = new MessageEvent('message', { data: 1, origin: 'a', lastEventId: 'b' }); const close = new CloseEvent('close', { code: 1001, reason: 'r', wasClean: true }); return [message instanceof Event, message.data, message.origin, message.lastEventId, message.source, message.ports, new MessageEvent('a').data, close.code, close.reason, close.wasClean, new CloseEvent('a').code]`,
    ],
  ])

  test('a message is lost with the event that posted it, and its channel serves the next event', async () => {
    const bundle = bot(`
      const { port1, port2 } = new MessageChannel()
      const seen = []
      port2.onmessage = ({ data }) => seen.push(data)
      exports.handler = async ({ input }) => {
        port1.postMessage(input)
        if (input === 'waits') await new Promise((resolve) => setTimeout(resolve, 20))
        return seen
      }`)
    await sandbox().run(callRun(bundle, { argument: { input: 'ends' } }))
    expect(done(await sandbox().run(callRun(bundle, { argument: { input: 'waits' } }))).result).toEqual(['waits'])
  })
})

describe('compression does what it does in Node', () => {
  testAsInNode(sandbox, [
    ...['gzip', 'deflate', 'deflate-raw'].map(
      (format) =>
        [
          `${format}, there and back`,
          `const packed = new Blob(['a'.repeat(100_000), 'é']).stream().pipeThrough(new CompressionStream('${format}')); const bytes = await new Response(packed).arrayBuffer(); const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('${format}'))).text(); return [text.length, text.at(-1), bytes.byteLength < 1000]`,
        ] as const,
    ),
    [
      'data of another format',
      `await new Response(new Blob(['no gzip at all, and long enough']).stream().pipeThrough(new DecompressionStream('gzip'))).text()`,
    ],
    [
      'data that ends too early',
      `const bytes = await new Response(new Blob(['abc'.repeat(50)]).stream().pipeThrough(new CompressionStream('deflate'))).arrayBuffer(); await new Response(new Blob([bytes.slice(0, 9)]).stream().pipeThrough(new DecompressionStream('deflate'))).text()`,
    ],
    ['a format that there is not', `new CompressionStream('zip')`],
  ])
})

describe('patterns of addresses do what they do in Node', () => {
  testAsInNode(sandbox, [
    [
      'a path with a name',
      `const pattern = new URLPattern({ pathname: '/users/:id' }); return [pattern.test('https://a.example/users/7'), pattern.exec('https://a.example/users/7').pathname.groups.id, pattern.test('https://a.example/'), pattern.pathname]`,
    ],
    ['a pattern that is none', `new URLPattern({ pathname: '/(' })`],
  ])
})

describe('the timeline of performance does what it does in Node', () => {
  testAsInNode(sandbox, [
    [
      'marks and measures',
      `performance.clearMarks(); performance.mark('a', { startTime: 5, detail: { n: 1 } }); performance.mark('b', { startTime: 9 }); const { name, duration, startTime, entryType, detail } = performance.measure('m', 'a', 'b'); return [name, duration, startTime, entryType, detail, performance.getEntriesByType('mark').map((mark) => [mark.name, mark.startTime, mark.detail]), performance.getEntriesByName('m').length]`,
    ],
    [
      'measures of times',
      `return [performance.measure('x', { start: 1, end: 4 }).duration, performance.measure('x', { start: 1, duration: 2 }).duration, performance.measure('x', { duration: 2, end: 9 }).startTime]`,
    ],
    [
      'what is cleared',
      `performance.mark('c'); performance.mark('d'); performance.clearMarks('c'); return [performance.getEntriesByName('c').length, performance.getEntriesByName('d', 'mark').length]`,
    ],
    ['a mark that there is not', `performance.measure('m', 'nothing')`],
    ['what cannot be constructed', `new Performance()`],
    [
      'its classes',
      `return [performance instanceof Performance, performance.mark('e') instanceof PerformanceEntry, new PerformanceMark('f') instanceof PerformanceMark, performance.now() >= 0]`,
    ],
  ])

  test('keeps a thousand entries', async () => {
    const [kept] = await inBoth(
      sandbox(),
      `for (let n = 0; n < 1200; n += 1) performance.mark('a' + n); return [performance.getEntries().length, performance.getEntriesByName('a0').length, performance.getEntriesByName('a1199').length]`,
    )
    expect(kept).toEqual([1000, 0, 1])
  })
})

describe('classes that code names while it loads', () => {
  test.each(refusedGlobals)('%s is derived from and compared with', async (name) => {
    const body = `class Own extends ${name} {}; return [typeof ${name}, {} instanceof ${name}, Own.name]`
    expect(await inSdkBundle(body)).toEqual(['function', false, 'Own'])
  })

  test.each(refusedGlobals)('%s says that it is not available', async (name) => {
    const body = `try { new ${name}('wss://a.example') } catch ({ code, message }) { return [code, message] }`
    const refusal = ['ERR_METHOD_NOT_IMPLEMENTED', expect.stringContaining(`${name} is not available here`)]
    expect(await inSdkBundle(body)).toEqual(refusal)
  })

  testAsInNode(sandbox, [
    ['crypto is a Crypto', `return [crypto instanceof Crypto, typeof crypto.randomUUID()]`],
    [
      'navigator is a Navigator',
      `return [navigator instanceof Navigator, navigator.userAgent, typeof navigator.language]`,
    ],
    ['neither is constructed', `new Navigator()`],
    [
      'a WebSocket has its states',
      `return [WebSocket.CONNECTING, WebSocket.OPEN, WebSocket.CLOSED, WebSocket.prototype instanceof EventTarget]`,
    ],
  ])

  test('a FinalizationRegistry takes objects and calls nothing', async () => {
    const body = `const registry = new FinalizationRegistry(() => { throw new Error('called') }); const token = {}; registry.register({}, 1, token); return registry.unregister(token)`
    expect(await inSdkBundle(body)).toBe(false)
  })

  test('modules of Node have them too', async () => {
    const body = `const threads = require('worker_threads'); const { performance: clock, PerformanceObserver } = require('node:perf_hooks')
      threads.markAsUncloneable({})
      return [threads.MessagePort === MessagePort, clock === performance, clock.mark('a').name, PerformanceObserver.supportedEntryTypes]`
    expect(await inSdkBundle(body)).toEqual([true, true, 'a', []])
  })
})

test('libraries are loaded for the names of what they do, and not for globalThis', () => {
  expect(groupsFor({ code: `globalThis.fetch('https://a.example')`, isNode: true })).toEqual([
    'web',
    'streams',
    'subtle',
    'buffer',
    'rare',
    'node',
  ])
})

import { readFile } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import { describe, expect, test } from 'vitest'
import { replaceImports } from '#sandbox/compiler/process/replace-imports.ts'
import { nodeModuleNames, nodeModules, scriptsFor, type NodeModule } from '#sandbox/modules/table.ts'
import { callRun, done, handlerThat } from '../fixture.ts'
import { sandboxOfFile, testAsInNode } from '../prelude/compare.ts'

const sandbox = sandboxOfFile()

/** The result of a handler with this body, through JSON. */
async function told(body: string): Promise<unknown> {
  const code = `const value = await (async () => { ${body} })(); return { body: JSON.stringify({ value }) }`
  const { result } = done(await sandbox().run(callRun(handlerThat(replaceImports(code)))))
  return (JSON.parse((result as { body: string }).body) as { value?: unknown }).value
}

/** Modules that need more than an isolate can have, and that no bundle asks for. */
const unknown = ['repl', 'trace_events', 'wasi', 'node:sea', 'node:sqlite', 'node:test', 'node:test/reporters']

describe('the table of modules', () => {
  test('names every module of Node, but for those that no bundle asks for', () => {
    const all = builtinModules.filter((name) => !name.startsWith('_') && !unknown.includes(name))
    expect([...nodeModuleNames].toSorted()).toEqual(all.toSorted())
  })

  test('is what a bundle finds, under both names of each module', async () => {
    const pairs = nodeModuleNames.map((name) => `['${name}', require('${name}') === require('node:${name}')]`)
    const same = await told(`return [${pairs.join(',')}]`)
    expect(same).toEqual(nodeModuleNames.map((name) => [name, true]))
  })

  test('gives each function that Node has, and each that does nothing throws its name', async () => {
    const silent = ['process', 'console', 'constants', 'sys', 'module']
    const named = nodeModuleNames.filter((name) => !silent.includes(name))
    const functions = named.map((name) => {
      const module = process.getBuiltinModule(name) as unknown as Record<string, unknown>
      // Some are behind getters; Node warns of these names.
      const names = Object.keys(Object.getOwnPropertyDescriptors(module)).filter(
        (key) => !key.startsWith('_') && !['fips', 'F_OK'].includes(key) && typeof module[key] === 'function',
      )
      return `['${name}', require('${name}'), ${JSON.stringify(names)}]`
    })
    const missing = await told(
      `return [${functions.join(',')}].flatMap(([name, module, names]) => names.filter((key) => typeof module[key] !== 'function').map((key) => name + '.' + key))`,
    )
    expect(missing).toEqual([])
  })

  test.each([
    ['fs', `require('fs').readFile('/etc/passwd', () => {})`, 'fs.readFile'],
    ['fs/promises', `await require('fs/promises').readFile('/etc/passwd')`, 'fs.promises.readFile'],
    ['child_process', `require('child_process').spawn('ls')`, 'child_process.spawn'],
    ['worker_threads', `new (require('worker_threads').Worker)('x')`, 'worker_threads.Worker'],
    ['a class that derives from a missing one', `new (class extends require('dgram').Socket {})()`, 'dgram.Socket'],
    ['zlib', `require('zlib').brotliCompressSync('a')`, 'zlib.brotliCompressSync'],
    ['crypto', `require('crypto').createDiffieHellman(512)`, 'crypto.createDiffieHellman'],
    ['http', `require('http').createServer()`, 'http.createServer'],
    ['promisified', `await require('util').promisify(require('dns').lookup)('example.com')`, 'dns.lookup'],
  ])('throws an error that names module and function on use: %s', async (_what, code, name) => {
    expect(await told(`try { ${code} } catch (error) { return [error.code, error.message] }`)).toEqual([
      'ERR_METHOD_NOT_IMPLEMENTED',
      expect.stringMatching(new RegExp(`^${name.replaceAll('.', String.raw`\.`)} is not available here: .`)),
    ])
  })

  test.each(['fs', 'dns', 'readline', 'stream', 'timers'])('has the promises of %s in both places', async (name) => {
    expect(await told(`return require('${name}').promises === require('${name}/promises')`)).toBe(true)
  })

  test('has the classes of which code asks whether a value is an instance', async () => {
    const classes = ['fs.ReadStream', 'fs.WriteStream', 'net.BlockList', 'net.Socket', 'http.IncomingMessage']
    const checks = classes.map((name) => {
      const [module, key] = name.split('.')
      return `'https://example.com/a.png' instanceof require('${module}').${key}`
    })
    expect(await told(`return [${checks.join(',')}]`)).toEqual(classes.map(() => false))
  })

  test.each(['encoding', 'bufferutil', 'utf-8-validate', 'kerberos', 'supports-color', './locale/de', 'lodash'])(
    'lets a bundle try a module that is not there: %s',
    async (name) => {
      const body = `try { require('${name}') } catch (error) { return [error.code, error.message.split(':')[0]] }`
      expect(await told(body)).toEqual(['MODULE_NOT_FOUND', `Cannot find module '${name}'`])
    },
  )

  test('tags `process` as Node does for bundles that send requests by http', async () => {
    const kind = 'Object.prototype.toString.call(process)'
    expect(await told(`require('http'); return ${kind}`)).toBe('[object process]')
    expect(await told(`return ${kind}`)).toBe('[object Object]')
  })

  test('says that there are no files where a library looks for an optional one', async () => {
    const body = `const fs = require('fs'); try { fs.readFileSync('/a') } catch (error) { return [fs.existsSync('/a'), error.code] }`
    expect(await told(body)).toEqual([false, 'ENOENT'])
  })
})

describe('import() of a module of Node, which bundlers leave as it is', () => {
  test('has the functions of the module, and the module itself as default', async () => {
    const body = `
      const { join, default: path } = await import('node:path')
      const { default: Emitter, once } = await import('events')
      return [join('a', 'b'), path === require('path'), Emitter.once === once, typeof new Emitter().on]`
    expect(await told(body)).toEqual(['a/b', true, true, 'function'])
  })

  test('is the same each time, and may have a comment for bundlers', async () => {
    const body = `
      const [one, other] = [await import(/* webpackIgnore: true */ 'node:path'), await import('path')]
      return [one === other, other.basename('/a/b')]`
    expect(await told(body)).toEqual([true, 'b'])
  })

  test('rejects for a module that is not in the bundle, with the code by which packages miss it', async () => {
    const body = `return import('supports-color').catch(({ code }) => code)`
    expect(await told(body)).toBe('MODULE_NOT_FOUND')
  })

  test('leaves strings, comments, expressions and methods of that name as they are', async () => {
    const body = `
      const own = { import(name) { return name } }
      class Own { static import(name) { return [name] } }
      const texts = ["import('path')", /import\\('path'\\)/.source, \`import('path') \${typeof (await import('path')).join}\`]
      // import('path')
      return [...texts, own.import('path'), own?.import('url'), Own.import('path')]`
    const texts = ["import('path')", String.raw`import\('path'\)`, "import('path') function"]
    expect(await told(body)).toEqual([...texts, 'path', 'url', ['path']])
  })
})

describe('only the scripts that a bundle names are loaded', () => {
  test.each([
    ['nothing', 'exports.handler = () => {}', []],
    ['what is no call', `const stream = 'stream'; module.exports.http = "http"`, []],
    ['methods of that name', `emitter.on("stream"); form.get('url')`, []],
    ['one module', `require('path')`, ['common']],
    ['with the prefix', `require("node:util")`, ['common', 'util']],
    ['a renamed require', 'var Qe=(t=>require)();Qe("stream")', ['common', 'stream']],
    ['an import', `import('path'); import(/* webpackIgnore: true */ "node:zlib")`, ['common', 'stream', 'zlib']],
    ['what others build on', `require('https')`, ['tag', 'common', 'stream', 'http']],
    ['hashes alone', `require('crypto').createHash('md5')`, ['common', 'crypto']],
    [
      'clients that can use fetch',
      `require('http'); fail("Response type 'x'"); known = { xhr: 1 }`,
      ['common', 'stream', 'http'],
    ],
    [
      'and one that cannot',
      `require('http'); fail("Response type 'x'"); known = { xhr: 1 }, older = { xhr: 2 }`,
      ['tag', 'common', 'stream', 'http'],
    ],
    [
      'and those whose responses are to be bytes of Node',
      `require('http'); fail("Response type 'x'"); known = { xhr: 1 }; get(url, { responseType: "arraybuffer" })`,
      ['tag', 'common', 'stream', 'http'],
    ],
    [
      'but not the public client’s own',
      `require('http'); fail("Response type 'x'"); known = { xhr: 1 }; get(url, { responseType: "arraybuffer" }), fail("Failed to download file from provided URL")`,
      ['common', 'stream', 'http'],
    ],
    ['a tokenizer in WebAssembly', `init({ "./tiktoken_bg.js": exports })`, ['tokenizer']],
    ['signatures', `require('crypto').createSign('RSA-SHA256')`, ['common', 'keys']],
  ])('%s', (_what, code, scripts) => {
    expect(scriptsFor(code)).toEqual(scripts)
  })
})

describe('polyfills do what Node does', () => {
  testAsInNode(
    sandbox,
    [
      [
        'a query',
        `const qs = require('querystring'); return [qs.parse('a=1&b=%20x&a=2'), qs.stringify({ a: [1, 'ü'], b: '&' }), qs.escape('ä b'), qs.unescape('%C3%A4')]`,
      ],
      [
        'an address, parsed',
        `const { protocol, auth, host, port, pathname, search, query, hash, href } = require('url').parse('http://a:b@host.com:8080/p/a?x=1&y=2#h', true); return { protocol, auth, host, port, pathname, search, query: { ...query }, hash, href }`,
      ],
      [
        'an address, resolved and formatted',
        `const url = require('url'); return [url.resolve('http://a.com/b/c', '../d'), url.format({ protocol: 'https', hostname: 'a.com', pathname: '/x', query: { a: 1 } }), url.format(new URL('http://a.com/?b=1')), url.fileURLToPath('file:///a%20b')]`,
      ],
      [
        'addresses of web sockets, resolved',
        `const url = require('url'); return ['/d', '../d', 'd', '..', '', '?x', '//c.com', '//c.com/d', 'ws://c.com', 'wss://b.com/d', 'http://b.com/d'].map((to) => url.resolve('ws://u:p@b.com/a/b', to))`,
      ],
      [
        'timers that are objects',
        `const all = [setTimeout(() => {}, 1), setInterval(() => {}, 1)]; const told = all.map((timer) => [timer.constructor.name, timer.unref() === timer, timer.hasRef(), timer.ref() === timer, timer.hasRef(), typeof +timer, timer.close() === timer]); const immediate = setImmediate(() => {}); const last = [immediate.constructor.name, immediate.unref() === immediate, immediate.hasRef()]; clearImmediate(immediate); return [told, last]`,
      ],
      [
        'timers that begin again, and those that are cleared',
        `const timers = require('timers'); const seen = []; const cleared = [timers.setTimeout(() => seen.push('a'), 1), setTimeout(() => seen.push('b'), 1), setTimeout(() => seen.push('c'), 1), setTimeout(() => seen.push('d'), 1)]; clearTimeout(cleared[0]); clearInterval(+cleared[1]); clearTimeout(String(+cleared[2])); cleared[3].close(); cleared[3].refresh(); clearTimeout({}); clearTimeout(null); const still = setImmediate(() => seen.push('e')); clearImmediate(still); let count = 0; await new Promise((resolve) => { const again = setTimeout(() => { count += 1; count < 3 ? again.refresh() : resolve() }, 1) }); await new Promise((resolve) => setTimeout(resolve, 20)); return [seen, count]`,
      ],
      [
        'timers whose handlers are functions of an object, and those without one',
        `let count = 0; const own = await new Promise((resolve) => { const timer = setTimeout(function (value) { resolve([this === timer, value]) }, 1, 'x') }); const soon = await new Promise((resolve) => { const timer = setImmediate(function () { resolve(this === timer) }) }); setInterval(function () { count += 1; clearInterval(this) }, 1); await new Promise((resolve) => setTimeout(resolve, 30)); const failed = (work) => { try { work() } catch (error) { return [error.name, error.code, error.message] } }; return [own, soon, count, failed(() => setTimeout('code')), failed(() => setInterval()), failed(() => setImmediate(null))]`,
      ],
      [
        'timers as promises',
        `const { promisify } = require('util'); const { setInterval: ticks, setTimeout: wait } = require('timers/promises'); const seen = []; for await (const tick of ticks(1, 'tick')) if (seen.push(tick) === 3) break; const controller = new AbortController(); controller.abort(new Error('enough')); const aborted = await wait(1, 'x', { signal: controller.signal }).catch((error) => error.name); return [await promisify(setTimeout)(1, 'a'), await promisify(setImmediate)('b'), seen, aborted, await promisify(require('timers').setTimeout)(1, 'c')]`,
      ],
      [
        'domains in ASCII and Unicode',
        `const { domainToASCII, domainToUnicode } = require('url'); return ['español.com', 'faß.de', 'EXAMPLE.com', 'xn--fiq228c.com', '☕.example', 'xn--iñvalid.com', 'xn--a', 'xn--zzzz--.com', '', 'a b', 'a:80', 'a/b', 'user@host', '[::1]', '1.2.3', 'a..b', 'a.', '%41.com', 'http://x'].map((domain) => [domainToASCII(domain), domainToUnicode(domain)])`,
      ],
      [
        'paths',
        `const path = require('path'); return [path.join('/a', '..', 'b'), path.resolve('/x', 'y'), path.extname('a.tar.gz'), path.relative('/a/b', '/a/c'), path.parse('/home/a.txt')]`,
      ],
      [
        'punycode',
        `const punycode = require('punycode'); return [punycode.toASCII('mañana.com'), punycode.toUnicode('xn--maana-pta.com'), punycode.encode('ü')]`,
      ],
      [
        'characters in parts',
        `const { StringDecoder } = require('string_decoder'); const decoder = new StringDecoder('utf8'); return [decoder.write(Buffer.from([0xe2, 0x82])), decoder.write(Buffer.from([0xac])), decoder.end()]`,
      ],
      [
        'formats',
        `const util = require('util'); return [util.format('%s %d %j %o', 'a', 1, { b: 2 }, 3), util.isDeepStrictEqual({ a: [1, new Map([[1, 2]])] }, { a: [1, new Map([[1, 2]])] }), util.isDeepStrictEqual(new Date(1), new Date(2)), util.types.isDate(new Date()), util.inspect({ a: 1 })]`,
      ],
      [
        'promises of callbacks',
        `const util = require('util'); return [await util.promisify((a, done) => done(null, a + 1))(1), await new Promise((resolve) => util.callbackify(async () => 7)((error, value) => resolve(value))), await util.promisify(Object.assign(() => {}, { [util.promisify.custom]: async () => 8 }))(), util.promisify.custom === Symbol.for('nodejs.util.promisify.custom'), ((once) => util.promisify(once) === once)(util.promisify((done) => done()))]`,
      ],
      [
        'assertions',
        `const assert = require('assert'); const failed = (work) => { try { work(); return 'passed' } catch (error) { return [error.name, error.code] } }; return [failed(() => assert.deepStrictEqual({ a: 1 }, { a: 1 })), failed(() => assert.strictEqual(1, 2)), failed(() => assert.throws(() => { throw new Error('x') }, /x/)), failed(() => require('assert/strict').equal(1, '1'))]`,
      ],
      [
        'events',
        `const EventEmitter = require('events'); const emitter = new EventEmitter(); const seen = []; emitter.once('a', (x) => seen.push(x)); emitter.prependListener('a', () => seen.push(0)); emitter.emit('a', 1); emitter.emit('a', 2); const next = EventEmitter.once(emitter, 'b'); emitter.emit('b', 'x'); return [seen, await next, emitter.listenerCount('a')]`,
      ],
      [
        'events whose listeners are promises that fail',
        `const EventEmitter = require('events'); const told = (emitter) => new Promise((resolve) => { emitter.on('error', (error) => resolve(error.message)); emitter.on('a', async () => { throw new Error('late') }); emitter.emit('a') }); class Own extends EventEmitter { [EventEmitter.captureRejectionSymbol](error, name, ...values) { this.emit('told', error.message, name, ...values) } } const own = new Own({ captureRejections: true }); const symbol = EventEmitter.once(own, 'told'); own.on('b', async () => { throw new Error('own') }); own.emit('b', 1); EventEmitter.captureRejections = true; const all = await told(new EventEmitter()); EventEmitter.captureRejections = false; const { Readable } = require('stream'); const stream = new Readable({ captureRejections: true, read() {} }); stream.push('a'); stream.on('data', async () => { throw new Error('read') }); const failed = await new Promise((resolve) => stream.on('error', resolve)); return [await told(new EventEmitter({ captureRejections: true })), await symbol, all, failed.message, stream.destroyed]`,
      ],
      [
        'events, with wrong arguments and on objects of another class',
        `const events = require('events'); const { EventEmitter } = events; const emitter = new EventEmitter(); const failed = (work) => { try { return work() } catch (error) { return [error.name, error.code, error.message] } }; const listener = () => {}; emitter.on('a', listener); emitter.once('a', listener); emitter.on('a', () => {}); const other = Object.create({ emit: EventEmitter.prototype.emit }); other._events = { a: () => other.seen = true }; return [failed(() => emitter.on('a')), failed(() => emitter.off('a', 1)), failed(() => emitter.setMaxListeners(-1)), failed(() => { EventEmitter.defaultMaxListeners = 'x' }), failed(() => new EventEmitter({ captureRejections: 1 })), failed(() => emitter.emit('error', { message: 1 }) === 0 ? 1 : 2).slice(0, 2), emitter.listenerCount('a', listener), other.emit('a'), other.seen, events.getMaxListeners(new EventTarget()), events.getMaxListeners(new AbortController().signal), EventEmitter.name, new EventEmitter().constructor.name, EventEmitter.prototype.on === EventEmitter.prototype.addListener]`,
      ],
      [
        'a console of its own',
        `const { Console } = require('console'); const { Writable } = require('stream'); const seen = []; const to = (name) => new Writable({ decodeStrings: false, write(text, encoding, done) { seen.push([name, text]); done() } }); const own = new Console({ stdout: to('out'), stderr: to('err'), groupIndentation: 1 }); const { log } = own; log('%s is %d', 'a', 1, { b: [2] }); own.error(new Map([[1, 2]])); own.group('in'); own.warn('two\\nlines'); own.groupEnd(); own.count(); own.count(); own.assert(false, 'no'); own.dir({ a: { b: { c: {} } } }, { depth: 0 }); own.table([{ a: 1 }]); const failing = new Console(new Writable({ write(text, encoding, done) { done(new Error('broken')) } })); failing.log('x'); let thrown; try { new Console({}) } catch (error) { thrown = error.code } require('console').clear(); return [seen, thrown, own instanceof Console, Console(to('x')) instanceof Console]`,
      ],
      [
        'a pipeline of streams',
        `const { pipeline } = require('stream/promises'); const { Readable, Transform, Writable } = require('stream'); const out = []; await pipeline(Readable.from(['a', 'b', 'c']), new Transform({ transform(chunk, encoding, done) { done(null, String(chunk).toUpperCase()) } }), new Writable({ write(chunk, encoding, done) { out.push(String(chunk)); setTimeout(done) } })); return out`,
      ],
      [
        'back-pressure of streams',
        `const { PassThrough } = require('stream'); const through = new PassThrough({ highWaterMark: 4 }); const first = through.write('abcd'); const read = String(through.read()); return [first, read, through.write('e')]`,
      ],
      [
        'streams that fail',
        `const { Readable, finished } = require('stream'); const stream = new Readable({ read() { this.destroy(new Error('cut')) } }); return new Promise((resolve) => { finished(stream, (error) => resolve(error.message)); stream.resume() })`,
      ],
      [
        'streams by inheritance of functions',
        `const { Stream, Readable } = require('stream'); const { inherits } = require('util'); function Own() { Readable.call(this) } inherits(Own, Readable); Own.prototype._read = function () { this.push('x'); this.push(null) }; const own = new Own(); const parts = []; for await (const part of own) parts.push(String(part)); return [parts, own instanceof Stream, require('stream') === Stream]`,
      ],
      [
        'inheritance of functions and classes that have methods already',
        `const { inherits } = require('util'); function Parent() {} Parent.prototype.own = () => 'parent'; Parent.prototype.other = () => 'other'; const failed = (...given) => { try { inherits(...given); return 'passed' } catch (error) { return [error.name, error.code] } }; function Child() {} Child.prototype.own = () => 'child'; class Late { own() { return 'late' } } inherits(Child, Parent); inherits(Late, Parent); return [[Child, Late].map((Class) => { const one = new Class(); return [one.own(), one.other(), one instanceof Parent, Class.super_ === Parent, one.constructor === Class, Object.keys(Class)] }), failed(null, Parent), failed(Child, undefined), failed(Child, {}), failed(function () {}, { prototype: null })]`,
      ],
      [
        'consumers of streams',
        `const { text, json } = require('stream/consumers'); const { Readable } = require('stream'); return [await text(Readable.from(['a', 'ü'])), await json(Readable.from(['{"a":', '1}']))]`,
      ],
      [
        'timers that are promises',
        `const timers = require('timers/promises'); return [await timers.setTimeout(1, 'late'), await timers.setImmediate('soon')]`,
      ],
      [
        'the process',
        `const process = require('process'); return [typeof process.title, process.hrtime().length, typeof process.hrtime.bigint(), await new Promise((resolve) => process.nextTick(resolve, 'x'))]`,
      ],
      [
        'addresses of hosts',
        `const net = require('net'); return ['1.2.3.4', '::1', '256.1.1.1', 'a', '1.2.3', 'fe80::1%eth0'].map((text) => net.isIP(text))`,
      ],
      [
        'stores of a call',
        `const { AsyncLocalStorage, AsyncResource } = require('async_hooks'); const storage = new AsyncLocalStorage(); return [storage.run(1, () => storage.getStore()), storage.getStore(), new AsyncResource('x').runInAsyncScope((a) => a + 1, null, 1)]`,
      ],
      [
        'stores that outlive an await, and end with their promise',
        `const { AsyncLocalStorage } = require('async_hooks'); const storage = new AsyncLocalStorage(); const seen = []; const look = () => seen.push(storage.getStore()); await storage.run('outer', async () => { await new Promise((resolve) => setTimeout(resolve)); look(); await storage.run('inner', async () => { await undefined; look() }); look(); await storage.run('failing', async () => { await undefined; look(); throw new Error('x') }).catch(look); storage.run('short', look); look() }); look(); return seen`,
      ],
      [
        'a store for each of several branches at the same time',
        `const { AsyncLocalStorage } = require('async_hooks'); const [storage, outer] = [new AsyncLocalStorage(), new AsyncLocalStorage()]; const seen = []; const look = (of) => seen.push([of, storage.getStore(), outer.getStore()]); const nap = (ms) => new Promise((resolve) => setTimeout(resolve, ms)); const step = async (name, work) => { await storage.run(name, async () => { await work() }); look('after ' + name) }; await outer.run('outer', () => step('map', async () => { await Promise.all([60, 40, 20].map(async (ms) => { await step('i' + ms, () => step('in' + ms, async () => { await nap(ms); await Promise.all([nap(1), nap(2).then(() => look('then ' + ms))]); look('late ' + ms) })); look('item ' + ms) })); look('mapped') })); await Promise.all(['a', 'b'].map((name, index) => storage.run(name, async () => { await nap(20 + index * 20); look(name); storage.enterWith(name + '!'); await nap(40); look(name) }))); await nap(1); look('end'); class Answer extends Promise { withDetails() { return this.then((text) => text + '!') } }; seen.push(await storage.run('own class', () => new Answer((resolve) => setTimeout(resolve, 5, 'yes'))).withDetails()); look('end'); return seen.map((one) => JSON.stringify(one)).toSorted()`,
      ],
      [
        'the end of streams of the web',
        `const { finished } = require('stream'); const { finished: ended } = require('stream/promises'); const wait = (stream) => new Promise((resolve) => finished(stream, (...values) => resolve(values.map((value) => value?.message ?? null)))); const seen = []; const read = new ReadableStream({ start(controller) { controller.enqueue(1); setTimeout(() => controller.close(), 20) } }); const reading = wait(read); for await (const chunk of read) seen.push(chunk); seen.push(await reading, await wait(new ReadableStream({ start(controller) { setTimeout(() => controller.error(new Error('failed')), 10) } }))); const written = new WritableStream(); const writing = wait(written); written.getWriter().close(); seen.push(await writing, await wait(new WritableStream({ start(controller) { controller.error(new Error('refused')) } }))); await ended(new ReadableStream({ start(controller) { controller.close() } })); const cancelled = new ReadableStream({}); const cancelling = wait(cancelled); await cancelled.cancel('enough'); seen.push(await cancelling); const { body } = new Response('text'); const consuming = wait(body); seen.push(await new Response(body).text(), await consuming); return seen`,
      ],
      [
        'two branches of a stream of the web',
        `const { ReadableStreamTee } = require('stream/web'); const texts = await Promise.all(ReadableStreamTee(new Response('text').body, true).map((branch) => new Response(branch).text())); return texts`,
      ],
      [
        'a function that requires modules, made by another one',
        `const { createRequire, isBuiltin, builtinModules } = require('module'); const load = createRequire('/bot.js'); const failed = (name) => { try { return load(name) } catch (error) { return error.code } }; return [load('path') === require('path'), load('node:path') === require('path'), failed('no-such-package'), failed('./native.node'), isBuiltin('node:fs'), isBuiltin('no-such-package'), builtinModules.includes('fs')]`,
      ],
      [
        'the calls that lead to one',
        `const { getCallSites } = require('util'); const inner = (...given) => getCallSites(...given); const outer = (...given) => inner(...given); const failed = (value) => { try { return outer(value) } catch (error) { return [error.name, error.code] } }; return [outer().map((site) => site.functionName).slice(0, 2), outer(1).length, outer({ sourceMap: false })[0].functionName, typeof outer()[1].scriptName, outer()[0].lineNumber > 0, Object.keys(outer()[0]), failed('2'), failed(0), failed(201), typeof new Error('a').stack]`,
      ],
      [
        'streams of zlib that a package derives from and drives itself',
        `const zlib = require('zlib'); const { inherits } = require('util'); const bytes = Buffer.from('picture '.repeat(40)); const packed = zlib.deflateSync(bytes); function Own(options) { zlib.Inflate.call(this, options) }; inherits(Own, zlib.Inflate); const own = new Own({ chunkSize: 320 }); own._handle.writeSync(zlib.constants.Z_FINISH, packed, 0, packed.length, own._outBuffer, own._outOffset, own._chunkSize); const piped = []; const stream = new Own(); stream.on('data', (part) => piped.push(part)); stream.end(packed); await new Promise((resolve) => stream.on('end', resolve)); const whole = zlib.Gunzip({}); const { _handle: handle } = whole; const { close } = handle; handle.close = () => {}; const once = whole._processChunk(zlib.gzipSync('at once'), zlib.constants.Z_FINISH); const failed = (() => { try { new zlib.Inflate()._processChunk(Buffer.from('nothing'), zlib.constants.Z_FINISH) } catch (error) { return error.code } })(); return [own instanceof zlib.Inflate, String(own._outBuffer).startsWith('picture picture'), [...own._writeState], own._finishFlushFlag, own._chunkSize, String(Buffer.concat(piped)) === String(bytes), String(once), typeof close, failed]`,
      ],
    ],
    'sdk',
  )
})

test('packages that list the properties of all built-in objects find each, and no memory that threads share', async () => {
  const code = `require('util'); const names = ['Atomics', 'JSON', 'Math', 'Proxy', 'Reflect', 'FinalizationRegistry', 'AggregateError']
    return [names.map((name) => Reflect.ownKeys(globalThis[name]).length > 0), typeof SharedArrayBuffer]`
  expect(await told(code)).toEqual([[false, true, true, true, true, true, true], 'undefined'])
})

test('a subscriber of a channel that fails keeps nothing from the other ones and from the traced code', async () => {
  const subscribers = `t.start.subscribe(() => { throw new Error('a subscriber fails') }); t.start.subscribe(() => seen.push('other'))`
  const traced = `const t = require('diagnostics_channel').tracingChannel('t'); const seen = []; ${subscribers}`
  expect(await told(`${traced}; return [t.traceSync(() => 'result'), seen]`)).toEqual(['result', ['other']])
})

test('docs/node-modules.md has every module of the table, with its kind, package and note', async () => {
  const page = await readFile(new URL('../../../docs/node-modules.md', import.meta.url), 'utf8')
  const cells = page.split('\n').flatMap((line) => (line.startsWith('| `') ? [line.split('|').slice(1, -1)] : []))
  const rows = cells.map((row) => row.map((cell) => cell.trim()))
  const expected = nodeModuleNames.map((name) => {
    const { kind, note, ...rest }: NodeModule = nodeModules[name]
    return [`\`${name}\``, kind, rest.from === undefined ? '' : `\`${rest.from}\``, note]
  })
  expect(rows).toEqual(expected)
})

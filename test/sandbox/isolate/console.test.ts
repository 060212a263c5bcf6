import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bot, botThat, done, logged, messageRun, openTestSandbox, type TestSandbox } from '../fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

describe('the log', () => {
  test('has the lines of the console and of the logger, with their levels', async () => {
    const outcome = await sandbox.run(
      messageRun(
        botThat(`
          console.log('1'); console.info('2'); console.warn('3'); console.error('4'); console.debug('5'); console.trace('6')
          logger.debug('7'); logger.info('8'); logger.warn('9'); logger.error('10')`),
      ),
    )
    expect(outcome.logs.map((line) => `${line.level} ${line.message.split('\n')[0]}`)).toEqual([
      'info 1',
      'info 2',
      'warn 3',
      'error 4',
      'debug 5',
      'debug 6',
      'debug 7',
      'info 8',
      'warn 9',
      'error 10',
    ])
    expect(Math.abs(Date.parse(outcome.logs[0]!.timestamp) - Date.now())).toBeLessThan(60_000)
  })

  test('keeps what was logged before an endless loop', async () => {
    const run = messageRun(botThat(`console.log('still here'); for (;;);`), { limits: { cpuMilliseconds: 200 } })
    expect(logged(await sandbox.run(run))).toEqual(['still here'])
  })

  test('keeps what was logged before the process had to be killed', async () => {
    const body = `console.log('still here'); new Array(2 ** 32 - 2).indexOf(1)`
    const run = messageRun(botThat(body), { limits: { cpuMilliseconds: 200 } })
    expect(logged(await sandbox.run(run))).toEqual(['still here'])
    // A run that begins before the process has gone is interrupted, and would be repeated by a worker.
    const statusOfNext = async () => (await sandbox.run(messageRun(botThat('')))).status
    await expect.poll(statusOfNext, { timeout: 20_000 }).toBe('done')
  })

  test('is cut after so many lines, and says so once', async () => {
    const body = `for (let n = 0; n < 1e5; n += 1) console.log(n)`
    const lines = logged(await sandbox.run(messageRun(botThat(body), { limits: { logLines: 3 } })))
    expect(lines.slice(0, 3)).toEqual(['0', '1', '2'])
    expect(lines.slice(3)).toEqual([expect.stringContaining('truncated')])
  })

  test('is cut after so many characters, and says so once', async () => {
    const body = `for (let n = 0; n < 10; n += 1) console.log('x'.repeat(40))`
    const lines = logged(await sandbox.run(messageRun(botThat(body), { limits: { logCharacters: 100 } })))
    expect(lines).toEqual(['x'.repeat(40), 'x'.repeat(40), 'x'.repeat(20), expect.stringContaining('truncated')])
  })

  test('has lines of bounded length', async () => {
    const body = `console.log('x'.repeat(1e7)); console.log(Array.from({ length: 1e6 }, (_, n) => n))`
    const lines = logged(await sandbox.run(messageRun(botThat(body))))
    expect(lines).toHaveLength(2)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(4096)
  })

  test('takes nothing while the module is loaded', async () => {
    const bundle = bot(`console.log('loading'); exports.hooks = { afterIncomingMessage() { console.log('running') } }`)
    expect(logged(await sandbox.run(messageRun(bundle)))).toEqual(['running'])
  })
})

describe('a logged value', () => {
  test.each([
    [
      `'%s is %d, %i, %f, %j, %o and %O: 100%%', 'x', '42', '3.9', '3.9', { a: 1 }, [1], { b: 2 }`,
      `x is 42, 3, 3.9, {"a":1}, [ 1, [length]: 1 ] and { b: 2 }: 100%`,
    ],
    [`'%s', 'a', 'b', { c: 1 }`, `a b { c: 1 }`],
    [`'100% sure %s'`, `100% sure %s`],
    [`'left', '%s'`, `left %s`],
    [`undefined, null, true, -0, 10n, Symbol('s')`, `undefined null true -0 10n Symbol(s)`],
    [`['it', "it's", '\\n'], { 'a-b': 1, c_d: [] }, {}`, `[ 'it', "it's", '\\n' ] { 'a-b': 1, c_d: [] } {}`],
    [`new Map([['a', { b: 1 }]]), new Set([1, 2])`, `Map(1) { 'a' => { b: 1 } } Set(2) { 1, 2 }`],
    [
      `new Date(0), new Date(NaN), /a+/gi, new Uint8Array(3)`,
      `1970-01-01T00:00:00.000Z Invalid Date /a+/gi Uint8Array(3) [ 0, 0, 0 ]`,
    ],
    [`() => {}, function named() {}, class Thing {}`, `[Function (anonymous)] [Function: named] [class Thing]`],
    [`new (class Point { x = 1 })(), Object.create(null)`, `Point { x: 1 } [Object: null prototype] {}`],
    [`{ a: { b: { c: { d: 1 } } } }, [[[[1]]]]`, `{ a: { b: { c: [Object] } } } [ [ [ [Array] ] ] ]`],
    [`{ get a() { throw new Error('called') } }`, `{ a: [Getter] }`],
    [`(() => { const a = {}; a.a = a; return a })()`, `<ref *1> { a: [Circular *1] }`],
    [`new Proxy({}, { ownKeys() { throw 1 } })`, `[The value could not be formatted]`],
    [
      `{ [Symbol.for('nodejs.util.inspect.custom')]: () => 'by itself' }, { a: { [Symbol.for('nodejs.util.inspect.custom')]() { throw 1 } } }, 'last'`,
      `by itself { a: [The value could not be formatted] } last`,
    ],
    [`Promise.resolve(1), new Headers({ a: 'b' })`, `Promise { <state unknown> } Headers { a: 'b' }`],
  ])('like %s is readable', async (values, expected) => {
    expect(logged(await sandbox.run(messageRun(botThat(`console.log(${values})`))))).toEqual([expected])
  })

  test('that is an error has its name, its message and where it was made', async () => {
    const bundle = bot(`exports.hooks = { afterIncomingMessage() {
  console.log(Object.assign(new TypeError('wrong'), { code: 7 }))
} }`)
    const [line] = logged(await sandbox.run(messageRun(bundle)))
    expect(line).toMatch(/^TypeError: wrong\n +at .*bot\.js:2:\d+\)? \{\n {2}code: 7\n\}$/)
  })

  test('that does not fit on a line is shown on several', async () => {
    const body = `console.log({ first: 'x'.repeat(50), second: { third: 'y'.repeat(50) } })`
    const [line] = logged(await sandbox.run(messageRun(botThat(body))))
    expect(line).toBe(`{\n  first: '${'x'.repeat(50)}',\n  second: { third: '${'y'.repeat(50)}' }\n}`)
  })
})

describe('timers', () => {
  test('call back later, in the order of their delays, with their arguments', async () => {
    const body = `await new Promise((resolve) => {
      setTimeout((text) => { logger.info(text); resolve() }, 60, 'late')
      setTimeout((text) => logger.info(text), 1, 'early')
    })`
    expect(logged(done(await sandbox.run(messageRun(botThat(body)))))).toEqual(['early', 'late'])
  })

  test('can be cleared, even by their own callback', async () => {
    const body = `
      clearTimeout(setTimeout(() => logger.info('cleared'), 1)); clearTimeout(undefined); clearTimeout({})
      let ticks = 0
      await new Promise((resolve) => {
        const interval = setInterval(() => { ticks += 1; if (ticks === 3) { clearInterval(interval); setTimeout(resolve, 20) } }, 1)
      })
      logger.info(ticks)`
    expect(logged(await sandbox.run(messageRun(botThat(body))))).toEqual(['3'])
  })

  test('may be set again and again when not too many are alive', async () => {
    const body = `for (let n = 0; n < 30; n += 1) await new Promise((resolve) => setTimeout(resolve))`
    expect((await sandbox.run(messageRun(botThat(body)))).status).toBe('done')
  })

  test('that a module sets when it is loaded never fire, and do no harm', async () => {
    const bundle = bot(`
      setInterval(() => { globalThis.fired = true }, 1)
      exports.hooks = { async afterIncomingMessage({ logger }) {
        await new Promise((resolve) => setTimeout(resolve, 20)); logger.info(globalThis.fired) } }`)
    expect(logged(await sandbox.run(messageRun(bundle)))).toEqual(['undefined'])
  })

  test('are not needed for a microtask', async () => {
    const body = `await new Promise((resolve) => { queueMicrotask(() => { logger.info('micro'); resolve() }); logger.info('first') })`
    expect(logged(done(await sandbox.run(messageRun(botThat(body)))))).toEqual(['first', 'micro'])
  })
})

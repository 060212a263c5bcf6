import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { bot, botThat, logged, messageRun } from '../fixture.ts'
import { sandboxOfFile } from './compare.ts'

const sandbox = sandboxOfFile()

async function levelsAndLines(body: string): Promise<string[]> {
  const outcome = await sandbox().run(messageRun(botThat(body)))
  expect(outcome.status).toBe('done')
  return outcome.logs.map(({ level, message }) => `${level} ${message}`)
}

/** The output of Node's console. */
function inNode(body: string): string {
  let written = ''
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      written += String(chunk)
      done()
    },
  })
  runInNewContext(body, { console: new Console({ stdout, colorMode: false }) })
  return written.replace(/\n$/, '')
}

describe('the console writes what Node’s does', () => {
  test.each([
    `console.log('%s|%s|%s', 'a', 1, true)`,
    `console.log('%s|%s|%s', null, undefined, 10n)`,
    `console.log('%s', -0)`,
    `console.log('%s', Symbol('x'))`,
    `console.log('%s', [1, 'b'])`,
    `console.log('%d|%d|%d|%d', 1.5, '2', 10n, 'x')`,
    `console.log('%d', Symbol('x'))`,
    `console.log('%i|%i|%i|%i', 1.5, '2.9', 'x', {})`,
    `console.log('%f|%f|%f', 1.5, '2.9x', 'x')`,
    `console.log('%j|%j', { a: [1] }, 'b')`,
    `const one = {}; one.one = one; console.log('%j', one)`,
    `console.log('%O', { a: { b: 1 } })`,
    `console.log('%c red %c', 'color: red', '')`,
    `console.log('%%|%s%%', 1)`,
    `console.log('%')`,
    `console.log('%s')`,
    `console.log('%s %s', 'a')`,
    `console.log('%x %s', 1)`,
    `console.log('%', 1)`,
    `console.log('a%', 1)`,
    `console.log('a', 'b', 1, { c: 2 })`,
    `console.log(1, '%s', 2)`,
    `console.log('100%', 'x')`,
    `console.log()`,
    `console.log('')`,
    `console.log('', '')`,
    `console.log('a\\nb')`,
    `console.log([undefined, null, NaN])`,
    `console.log({ a: 'it', b: "it's" })`,
    `console.info('a'); `,
    `console.dir({ a: 1 })`,
    `console.dir('a')`,
    `console.count(); console.count(); console.count('x'); console.count('default')`,
    `console.count('x'); console.countReset('x'); console.count('x')`,
    `console.count(7); console.count(null)`,
    `console.group('one'); console.log('two'); console.group(); console.log('three\\nfour'); console.groupEnd(); console.log('five'); console.groupEnd(); console.groupEnd(); console.log('six')`,
    `console.groupCollapsed('one'); console.log({ a: 1 }); console.groupEnd(); console.log('two')`,
    `console.table([{ a: 1, b: 'x' }, { a: 2, c: true }])`,
    `console.table([{ a: 1, b: 2 }, { a: 3, b: 4 }], ['b'])`,
    `console.table([1, 'two', null])`,
    `console.table([[1, 2], [3, 4]])`,
    `console.table({ first: { a: 1 }, second: { b: 2 }, third: 3 })`,
    `console.table([{ a: 1 }, 5])`,
    `console.table([])`,
    `console.table('text')`,
    `console.table(5)`,
    `console.timeEnd === undefined || console.log(typeof console.timeLog)`,
  ])('by %s', async (body) => {
    expect(logged(await sandbox().run(messageRun(botThat(body)))).join('\n')).toBe(inNode(body))
  })
})

describe('the console', () => {
  test('has levels', async () => {
    const body = `console.log('a'); console.info('b'); console.debug('c'); console.warn('d'); console.error('e'); console.dirxml('f')`
    expect(await levelsAndLines(body)).toEqual(['info a', 'info b', 'debug c', 'warn d', 'error e', 'info f'])
  })

  test('says what was not as it was asserted, and nothing else', async () => {
    const body = `console.assert(true, 'fine'); console.assert(false); console.assert(0, 'not %s', 'fine'); console.assert(null, { a: 1 })`
    expect(await levelsAndLines(body)).toEqual([
      'error Assertion failed',
      'error Assertion failed: not fine',
      'error Assertion failed: { a: 1 }',
    ])
  })

  test('takes times by their names', async () => {
    const body = `console.time('x'); await new Promise((resolve) => setTimeout(resolve, 20)); console.timeLog('x', 'so far', 1); console.timeEnd('x'); console.timeEnd('x')`
    const lines = await levelsAndLines(body)
    expect(lines).toEqual([
      expect.stringMatching(/^info x: \d+ms so far 1$/),
      expect.stringMatching(/^info x: \d+ms$/),
      `warn No timer is running for 'x'`,
    ])
    expect(Number(/\d+/.exec(lines[1]!)![0])).toBeGreaterThanOrEqual(19)
  })

  test('traces where it was asked', async () => {
    const [line] = await levelsAndLines(`console.trace('here %s', 1)`)
    expect(line).toMatch(/^debug here 1\n +at .*bot\.js:1:\d+/)
  })

  test('keeps groups and counts of one run from the next', async () => {
    const bundle = bot(
      `exports.hooks = { afterIncomingMessage() { console.group('g'); console.log('in'); console.count() } }`,
    )
    const once = logged(await sandbox().run(messageRun(bundle)))
    expect(once).toEqual(['g', '  in', '  default: 1'])
    expect(logged(await sandbox().run(messageRun(bundle)))).toEqual(once)
  })

  test('does nothing where there is no run', async () => {
    const bundle = bot(
      `console.group('x'); console.count(); console.time(); console.timeEnd(); console.table([1]); console.assert(false); console.groupEnd()
       exports.hooks = { afterIncomingMessage() { console.log('run') } }`,
    )
    expect(logged(await sandbox().run(messageRun(bundle)))).toEqual(['run'])
  })

  test('shows what throws when it is looked at', async () => {
    const values = `new Proxy({}, { ownKeys() { throw 1 }, getPrototypeOf() { throw 1 } })`
    const body = `const value = ${values}; console.dir(value); console.table(value); console.assert(false, value); console.trace(value)`
    const lines = await levelsAndLines(body)
    expect(lines.map((line) => line.includes('[The value could not be formatted]'))).toEqual([true, true, true, true])
  })

  test('indents so far and no further', async () => {
    const [line] = await levelsAndLines(`for (let n = 0; n < 1e5; n += 1) console.group(); console.log('x')`)
    expect(line).toBe(`info ${' '.repeat(40)}x`)
  })

  test('shows tables of bounded size', async () => {
    const body = `const text = 'x'.repeat(1e5); console.table(Array.from({ length: 1000 }, (_, n) => ({ ['column' + n]: text })))`
    const [line] = await levelsAndLines(body)
    expect(line!.length).toBeLessThanOrEqual('info '.length + 4096)
  })

  test('has methods that go without it', async () => {
    expect(
      await levelsAndLines(
        `const { log, group, groupEnd, count } = console; group(); log('a'); count(); groupEnd(); [1].forEach(log)`,
      ),
    ).toEqual(['info   a', 'info   default: 1', 'info 1 0 [ 1 ]'])
  })

  test('has a tag', async () => {
    expect(await levelsAndLines(`console.log(String(console))`)).toEqual(['info [object console]'])
  })
})

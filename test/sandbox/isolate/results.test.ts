import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { actionRun, bot, botThat, done, messageRun, openTestSandbox, type TestSandbox } from '../fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

function runAction(body: string) {
  return sandbox.run(actionRun(bot(`exports.actions = { go() { ${body} } }`), { name: 'go', input: {} }))
}

describe('a thrown value', () => {
  test.each([
    ['null', 'null', 'Error'],
    ['undefined', 'undefined', 'Error'],
    [`'just text'`, 'just text', 'Error'],
    [`Symbol('sign')`, 'Symbol(sign)', 'Error'],
    ['42n', '42n', 'Error'],
    [`{ code: 7 }`, '{ code: 7 }', 'Error'],
    [`Object.assign(new Error('m'), { name: 'MyError' })`, 'm', 'MyError'],
    [`new TypeError('wrong')`, 'wrong', 'TypeError'],
    [`{ get message() { throw 1 } }`, expect.any(String), 'Error'],
    [`new Proxy({}, { get() { throw 1 } })`, expect.any(String), 'Error'],
    [`new Proxy(() => {}, {})`, expect.any(String), expect.any(String)],
  ])('like %s fails the run with an error that says what it can', async (thrown, message, name) => {
    const outcome = await sandbox.run(messageRun(botThat(`throw ${thrown}`)))
    expect(outcome).toMatchObject({ status: 'failed', reason: 'error', error: { name, message } })
  })

  test('with a huge message is cut', async () => {
    const outcome = await sandbox.run(messageRun(botThat(`throw new Error('x'.repeat(10_000_000))`)))
    expect(outcome).toHaveProperty('error.message', 'x'.repeat(1000))
  })

  test('from a hook that returns a rejected promise fails the run the same way', async () => {
    const outcome = await sandbox.run(messageRun(botThat(`return Promise.reject(new Error('later'))`)))
    expect(outcome).toMatchObject({ status: 'failed', reason: 'error', error: { message: 'later' } })
  })

  test('that is unhandled elsewhere is logged, and fails nothing', async () => {
    const body = `Promise.reject(new TypeError('forgotten')); setTimeout(() => { throw new Error('thrown') }, 1)
      await new Promise((resolve) => setTimeout(resolve, 20))`
    const outcome = done(await sandbox.run(messageRun(botThat(body))))
    expect(outcome.logs).toMatchObject([
      { level: 'error', message: expect.stringContaining('TypeError: forgotten') },
      { level: 'error', message: expect.stringContaining('Error: thrown') },
    ])
  })
})

describe('a result', () => {
  test.each([
    ['a circle', `const circle = {}; circle.circle = circle; return circle`],
    ['a BigInt', `return { n: 1n }`],
    ['a function', `return () => {}`],
    ['more than the limit', `return 'x'.repeat(200_000)`],
    ['what throws when it is written as JSON', `return { toJSON() { throw new Error('no') } }`],
  ])('that is %s fails the run for its result', async (_what, body) => {
    expect(await runAction(body)).toMatchObject({ status: 'failed', reason: 'result' })
  })

  test('that is a thenable is awaited', async () => {
    expect(done(await runAction(`return { then(resolve) { resolve({ n: 1 }) } }`)).result).toEqual({ n: 1 })
  })

  test('loses keys that would change prototypes', async () => {
    const { result } = done(await runAction(`return JSON.parse('{ "__proto__": { "admin": true }, "n": 1 }')`))
    expect(Object.getOwnPropertyNames(result)).toEqual(['n'])
  })

  test('keeps text that only looks like such a key', async () => {
    expect(done(await runAction(`return { text: '__proto__ \\u0001' }`)).result).toEqual({ text: '__proto__ \u0001' })
  })
})

describe('the state', () => {
  test.each([
    ['a circle', `state.user = {}; state.user.self = state.user`],
    ['no object', `event.state = null`],
    ['larger than any state may be', `state.user = { text: 'x'.repeat(3_000_000) }`],
  ])('that is %s fails the run for its result', async (_what, body) => {
    expect(await sandbox.run(messageRun(botThat(body)))).toMatchObject({ status: 'failed', reason: 'result' })
  })
})

describe('an error names the first value that has no JSON form', () => {
  /** Each with the end of the message; NAME is the name of the value. */
  const values: [what: string, value: string, reason: string][] = [
    ['a BigInt', `{ session: { user: { total: 1n } } }`, 'NAME.session.user.total is a BigInt'],
    ['a BigInt in a list', `{ items: [{ n: 1 }, { 'net price': 2n }] }`, 'NAME.items[1]["net price"] is a BigInt'],
    [
      'a circle',
      `(() => { const a = {}; a.b = [{ a }]; return { a } })()`,
      'NAME.a.b[0].a is a circular reference to NAME.a',
    ],
    [
      'a BigInt behind what has a JSON form',
      `(() => { const a = { b: [{}] }; return { a, again: a, map: new Map(), date: new Date(0), n: 1n } })()`,
      'NAME.n is a BigInt',
    ],
    ['a long name', `{ ['x'.repeat(1000)]: 1n }`, `NAME.${'x'.repeat(60)}… is a BigInt`],
    [
      'a getter',
      `{ get total() { globalThis.read = (globalThis.read ?? 0) + 1; throw new Error('read ' + read) } }`,
      'reading NAME failed: read 1',
    ],
    ['a conversion', `{ a: { toJSON() { throw new Error('no total') } } }`, 'reading NAME failed: no total'],
    ['a proxy', `{ a: new Proxy({}, { ownKeys() { throw new Error('trap') } }) }`, 'reading NAME failed: trap'],
  ]

  test.each(values)('of a result: %s', async (_what, value, reason) => {
    const message = `The result cannot be converted to JSON: ${reason.replaceAll('NAME', 'result')}`
    expect(await runAction(`return ${value}`)).toMatchObject({ status: 'failed', reason: 'result', error: { message } })
  })

  test.each(values.filter(([what]) => what !== 'a getter'))('of the state: %s', async (_what, value, reason) => {
    const message = `event.state cannot be converted to JSON: ${reason.replaceAll('NAME', 'event.state')}`
    const outcome = await sandbox.run(messageRun(botThat(`Object.assign(state, ${value})`)))
    expect(outcome).toMatchObject({ status: 'failed', reason: 'result', error: { message } })
  })

  test.each(values.filter(([, , reason]) => reason.startsWith('NAME')))(
    'of a call of the client: %s',
    async (_what, value, reason) => {
      const start = 'The argument of client.createMessage cannot be converted to JSON: '
      const outcome = await sandbox.run(messageRun(botThat(`await client.createMessage(${value})`)))
      expect(outcome).toMatchObject({
        status: 'failed',
        reason: 'error',
        error: { name: 'TypeError', message: start + reason.replaceAll('NAME', 'argument') },
      })
    },
  )

  test('and a call of the client fails with what a getter of its argument throws, which is called once', async () => {
    const body = `let read = 0; try { await client.createMessage({ get a() { read += 1; throw new RangeError('no ' + read) } }) } catch (error) { throw error }`
    const error = { name: 'RangeError', message: 'no 1' }
    expect(await sandbox.run(messageRun(botThat(body)))).toMatchObject({ status: 'failed', reason: 'error', error })
  })

  test('by a path of bounded length', async () => {
    const value = `JSON.parse('{"x":'.repeat(500) + '"n"' + '}'.repeat(500), (_key, held) => (held === 'n' ? 1n : held))`
    const outcome = await runAction(`return ${value}`)
    expect(outcome).toMatchObject({
      error: { message: expect.stringMatching(/: result(?:\.x)+…(?:x?\.x)+ is a BigInt$/) },
    })
    expect((outcome as { error: { message: string } }).error.message.length).toBeLessThan(300)
  })

  test('or says that the value has none itself', async () => {
    const message = 'The result cannot be converted to JSON: result is a function'
    expect(await runAction('return () => {}')).toMatchObject({ error: { message } })
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  callRun,
  done,
  handlerThat,
  logged,
  openTestSandbox,
  patientHost,
  platformUrl,
  sdkBot,
  type TestSandbox,
} from '../fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

describe('a handler that answers', () => {
  test.each([
    ['nothing', `return undefined`, { status: 200, headers: {} }],
    ['null for a body', `return { status: 204, body: null }`, { status: 204, headers: {} }],
    [
      'in full',
      `return { status: 500, headers: { a: 'b' }, body: 'c', more: 1 }`,
      { status: 500, headers: { a: 'b' }, body: 'c' },
    ],
  ])('%s is heard', async (_what, body, result) => {
    expect(done(await sandbox.run(callRun(handlerThat(body)))).result).toEqual(result)
  })

  test.each([
    ['a text', `return 'ok'`, /object/],
    ['a list', `return []`, /object/],
    ['null', `return null`, /object/],
    ['a status that is none', `return { status: 99 }`, /status/],
    ['a status that is a text', `return { status: '200' }`, /status/],
    ['a body that is no text', `return { body: { a: 1 } }`, /body/],
    ['headers that are no texts', `return { headers: { a: 1 } }`, /header a/],
    ['what JSON can not carry', `const a = {}; a.a = a; return a`, /circular/],
  ])('%s fails by its result', async (_what, body, words) => {
    expect(await sandbox.run(callRun(handlerThat(body)))).toMatchObject({
      status: 'failed',
      reason: 'result',
      error: { name: 'ResultError', message: expect.stringMatching(words) },
    })
  })

  test('more than it may fails by the limit of its result', async () => {
    expect(await sandbox.run(callRun(handlerThat(`return { body: 'x'.repeat(200_000) }`)))).toMatchObject({
      status: 'failed',
      reason: 'result',
      error: {
        name: 'ResultLimitError',
        message: 'The result has 200011 characters of JSON, more than the 100000 allowed',
      },
    })
  })

  test.each([
    ['rejects', `throw new RangeError('no')`, { name: 'RangeError', message: 'no' }],
    ['rejects with nothing', `throw undefined`, { name: 'Error', message: 'undefined' }],
  ])('instead %s fails with that', async (_what, body, error) => {
    expect(await sandbox.run(callRun(handlerThat(body)))).toMatchObject({ status: 'failed', reason: 'error', error })
  })

  test('never is stopped by the clock', async () => {
    const run = callRun(handlerThat(`await new Promise(() => {})`), {}, { limits: { wallMilliseconds: 300 } })
    expect(await sandbox.run(run)).toMatchObject({ status: 'failed', reason: 'timeout' })
  })
})

test('a rejection that nothing awaits is logged, though the handler ends in the same turn', async () => {
  const { status, logs } = await sandbox.run(
    callRun(handlerThat(`void Promise.reject(new RangeError('lost')); return { status: 200 }`)),
  )
  expect(status).toBe('done')
  expect(logs).toEqual([
    expect.objectContaining({
      level: 'error',
      message: expect.stringMatching(/^Unhandled rejection: RangeError: lost\n/),
    }),
  ])
})

test('only lines of JSON that a logger wrote are read, and only where the environment asks for it', async () => {
  const body = `
    console.info(JSON.stringify({ msg: 'plain', options: {} }))
    console.info(JSON.stringify({ msg: 'risen', level: 'error' }))
    console.warn(JSON.stringify({ msg: 'odd', level: 'fatal' }))
    console.info(JSON.stringify({ type: 'issue', code: 'x', title: 'Title', description: 'what it is' }))
    console.log(JSON.stringify({ other: 1 }))
    console.log('{ not json')
    console.log('{"msg":"with"}', 'more')`
  const lines = async (environment: Record<string, string>) =>
    (await sandbox.run(callRun(handlerThat(body, environment)))).logs.map(({ level, message }) => `${level} ${message}`)
  expect(await lines({ BP_LOG_FORMAT: 'json' })).toEqual([
    'info plain',
    'error risen',
    'warn odd',
    'info Title: what it is',
    'info {"other":1}',
    'info { not json',
    'info {"msg":"with"} more',
  ])
  expect((await lines({}))[0]).toBe('info {"msg":"plain","options":{}}')
})

test('a request of code that waits for another run’s promise is still made for its own', async () => {
  const bundle = sdkBot(`
    let shared
    exports.handler = async ({ body }) => {
      const authorization = 'Bearer ' + process.env.BP_TOKEN
      const ask = (path) => fetch('${platformUrl}/' + path, { headers: { authorization } })
      shared ??= ask('shared')
      await shared
      await ask(body)
    }`)
  const hosts = ['one', 'two', 'three'].map((body) => ({ body, ...patientHost() }))
  const runs = hosts.map(({ body, host }) => sandbox.run(callRun(bundle, { argument: { body } }, { host })))
  await expect.poll(() => hosts[0]!.calls.length).toBe(1)
  hosts[0]!.answer(0)
  await expect
    .poll(() => hosts.map(({ calls }) => calls.map((call) => call.path)))
    .toEqual([['/shared', '/one'], ['/two'], ['/three']])
  hosts[0]!.answer(1)
  hosts[1]!.answer(0)
  hosts[2]!.answer(0)
  expect((await Promise.all(runs)).map((outcome) => outcome.status)).toEqual(['done', 'done', 'done'])
})

test('a module that calls the platform while it is loaded gets an error that says when it may', async () => {
  const bundle = sdkBot(`
    const asked = fetch('${platformUrl}/').then(() => 'answered', (error) => error.message)
    exports.handler = async () => { console.log(await asked) }`)
  expect(logged(await sandbox.run(callRun(bundle)))).toEqual([expect.stringContaining('while the module loads')])
})

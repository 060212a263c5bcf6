import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Inspection, Limits } from '#sandbox/protocol/contract.ts'
import { bot, hookNames, limits, logged, messageRun, openTestSandbox, sdkBot, type TestSandbox } from '../fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

function inspect(code: string, changed: Partial<Limits> = {}): Promise<Inspection> {
  return sandbox.inspect(bot(code), { ...limits, ...changed })
}

describe('a bundle is accepted', () => {
  test('with what it declares', async () => {
    const inspection = await inspect(`
      exports.hooks = { afterIncomingMessage: () => {}, beforeIncomingMessage: [() => {}, async () => {}] }
      exports.actions = { greet() {}, leave: async () => {} }
      exports.register = async () => {}
      exports.handler = async () => {}
      exports.channels = { chat: () => {}, mail: { messages: { text: async () => {} } } }
      exports.retry = { attempts: 3, backoff: [1, 2] }`)
    expect(inspection).toEqual({
      status: 'accepted',
      kind: 'native',
      hooks: ['afterIncomingMessage', 'beforeIncomingMessage'],
      actions: ['greet', 'leave'],
      exports: ['register', 'handler'],
      channels: ['chat', 'mail'],
      retry: { attempts: 3, backoff: [1, 2] },
    })
  })

  test('when it says that it has no hooks, or no actions', async () => {
    const nothing = { status: 'accepted', kind: 'native', hooks: [], actions: [], exports: [], channels: [] }
    expect(await inspect(`exports.hooks = {}`)).toEqual(nothing)
    expect(await inspect(`module.exports = { actions: {} }`)).toEqual(nothing)
  })

  test('as esbuild writes an ES module as CommonJS', async () => {
    const inspection = await inspect(`
      "use strict"; var __defProp = Object.defineProperty
      var bot_exports = {}
      __defProp(bot_exports, "hooks", { get: () => hooks, enumerable: true })
      module.exports = Object.defineProperties(__defProp({}, "__esModule", { value: true }), Object.getOwnPropertyDescriptors(bot_exports))
      var hooks = { afterIncomingMessage() {} }`)
    expect(inspection).toMatchObject({ status: 'accepted', hooks: ['afterIncomingMessage'] })
  })

  test('as one of the SDK when it has a handler, and with nothing else of what it exports', async () => {
    const code = `exports.handler = async () => {}; exports.hooks = 1; exports.register = () => {}; require('util')`
    expect(await sandbox.inspect(sdkBot(code), limits)).toEqual({
      status: 'accepted',
      kind: 'sdk',
      hooks: [],
      actions: [],
      exports: ['handler'],
      channels: [],
    })
  })

  test('as no bundle of the SDK when it has no handler', async () => {
    const inspection = await sandbox.inspect(sdkBot(`exports.actions = {}`), limits)
    expect(inspection).toMatchObject({ status: 'accepted', kind: 'native', exports: [] })
  })

  test('in an isolate of its own that is then disposed', async () => {
    const bundle = bot(
      `let count = 0; exports.hooks = { afterIncomingMessage({ logger }) { logger.info(++count) } }; globalThis.n = ++count`,
    )
    await sandbox.inspect(bundle, limits)
    await sandbox.inspect(bundle, limits)
    expect(logged(await sandbox.run(messageRun(bundle)))).toEqual(['2'])
  })
})

describe('a bundle is refused', () => {
  test.each([
    ['exports no object', `module.exports = 7`, /module\.exports/],
    [
      'exports nothing',
      `const hooks = { afterTurnEnd() {} }`,
      /exports nothing\. A bot exports at least one of hooks and/,
    ],
    ['exports an empty object', `module.exports = {}`, /exports nothing\. .*register.*handler.*channels/],
    [
      'exports its hooks by default',
      `exports.default = { hooks: {} }`,
      /nothing that the platform calls, but default\./,
    ],
    ['exports what nobody calls', `exports.retry = { attempts: 2 }; exports.hook = {}`, /but retry, hook\./],
    ['exports null', `module.exports = null`, /module\.exports/],
    ['has hooks that are no object', `exports.hooks = () => {}`, /hooks/],
    ['has a list as hooks', `exports.hooks = []`, /hooks/],
    ['has channels that are no object', `exports.channels = []`, /channels/],
    ['has actions that are no object', `exports.actions = 'none'`, /actions/],
    ['throws what is no error', `throw 'nothing'`, /nothing/],
    ['throws a looping proxy that cannot be described', `throw new Proxy({}, { get() { throw 1 } })`, /./],
    ['needs a module', `require('lodash')`, /Cannot find module 'lodash'/],
    ['forgets a rejection', `Promise.reject(new Error('at the start'))`, /at the start/],
  ])('that %s', async (_what, code, message) => {
    expect(await inspect(code)).toMatchObject({
      status: 'refused',
      reason: 'error',
      error: { message: expect.stringMatching(message) },
    })
  })

  test.each([
    ['a hook that does not exist', `exports.hooks = { afterIncomingMesage() {} }`, 'afterIncomingMesage'],
    ['a hook that is no function', `exports.hooks = { afterTurnEnd: 'later' }`, 'afterTurnEnd'],
    ['a list with something else than functions', `exports.hooks = { afterTurnEnd: [() => {}, 1] }`, 'afterTurnEnd'],
    ['an action that is no function', `exports.actions = { greet: {} }`, 'greet'],
    ['a handler that is no function', `exports.handler = {}`, 'handler'],
    ['a channel that is no function', `exports.channels = { chat: 'text' }`, 'chat'],
    ['a channel without messages', `exports.channels = { chat: { text() {} } }`, 'chat'],
    ['a message handler that is no function', `exports.channels = { chat: { messages: { text: 1 } } }`, 'chat'],
  ])('with %s, which is named', async (_what, code, hook) => {
    const inspection = await inspect(code)
    expect(inspection).toMatchObject({ status: 'refused', reason: 'error', hook })
    expect(inspection).toHaveProperty('error.message', expect.stringContaining(hook))
  })

  test('with a hook that does not exist, with the existing ones in the error', async () => {
    const inspection = await inspect(`exports.hooks = { nope() {} }`)
    for (const name of hookNames) expect(inspection).toHaveProperty('error.message', expect.stringContaining(name))
  })

  test('where it throws: the stack has the positions of its own text', async () => {
    const first = await inspect(`throw new RangeError('first line')`)
    expect(first).toHaveProperty('error.name', 'RangeError')
    expect(first).toHaveProperty('error.stack', expect.stringMatching(/^ +at .*bot\.js:1:7\)?$/))
    const third = await inspect(`\nfunction fail() {\n  throw new Error('x') }\nfail()`)
    expect(third).toHaveProperty('error.stack', expect.stringMatching(/bot\.js:3:9\)\n.*bot\.js:4:1\)?$/))
  })

  test('where it does not parse', async () => {
    const inspection = await inspect(`const a = 1\nconst b = ;\n`)
    expect(inspection).toMatchObject({ status: 'refused', reason: 'error', error: { name: 'SyntaxError' } })
    expect(inspection).toHaveProperty('error.stack', expect.stringContaining('bot.js:2:11'))
    expect(inspection).toHaveProperty('error.message', expect.not.stringContaining('bot.js'))
  })

  test.each([
    ['cpu', `for (;;);`],
    ['cpu', `Promise.resolve().then(() => { for (;;); })`],
    ['memory', `const all = []; for (;;) all.push({})`],
    ['cpu', `new Array(2 ** 32 - 2).indexOf(1)`],
  ])('for its %s when it starts with %s', async (reason, code) => {
    const inspection = await inspect(code, { loadMilliseconds: reason === 'cpu' ? 200 : 20_000, memoryMegabytes: 16 })
    expect(inspection).toMatchObject({ status: 'refused', reason })
  })

  test('even when it changes the built-ins that describe it', async () => {
    const inspection = await inspect(`
      Array.prototype.toJSON = () => ['forged']; Object.keys = () => ['afterTurnEnd']; JSON.stringify = () => '{}'
      exports.hooks = { unknown() {} }`)
    expect(inspection).not.toMatchObject({ status: 'accepted', hooks: ['unknown'] })
  })
})

test('a bundle that can not be loaded fails its runs the same way, every time', async () => {
  const broken = bot(`throw new TypeError('broken')`)
  for (let attempt = 0; attempt < 2; attempt += 1) {
    expect(await sandbox.run(messageRun(broken))).toMatchObject({
      status: 'failed',
      reason: 'error',
      error: { name: 'TypeError', message: 'broken' },
    })
  }
})

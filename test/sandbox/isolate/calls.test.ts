import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Bundle, HostCall } from '#sandbox/protocol/contract.ts'
import { bot, callRun, done, echo, ok, openTestSandbox, type TestSandbox } from '../fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

async function resultOf(bundle: Bundle, task: Parameters<typeof callRun>[1]) {
  return done(await sandbox.run(callRun(bundle, task))).result
}

describe('a function that a bundle exports is called', () => {
  const integration = bot(`
    exports.register = ({ ctx }) => ({ registered: ctx.alias })
    exports.actions = { greeting: 'Hello', greet({ input }) { return { text: this.greeting + ' ' + input.name } } }
    exports.channels = {
      mail: { messages: { text: async ({ payload }) => ({ mailed: payload.text }) } },
      chat: ({ type }) => ({ said: type }),
    }
    exports.unregister = async () => {}`)

  test.each([
    ['by its name', ['register'], { ctx: { alias: 'mail' } }, { registered: 'mail' }],
    ['as the method that it is', ['actions', 'greet'], { input: { name: 'Ada' } }, { text: 'Hello Ada' }],
    ['wherever it is', ['channels', 'mail', 'messages', 'text'], { payload: { text: 'x' } }, { mailed: 'x' }],
    [
      'when it stands for all beneath it',
      ['channels', 'chat', 'messages', 'image'],
      { type: 'image' },
      { said: 'image' },
    ],
    ['when it returns nothing', ['unregister'], {}, {}],
  ])('%s', async (_how, path, argument, result) => {
    expect(await resultOf(integration, { path, argument })).toEqual(result)
  })

  test.each([
    ['missing', ['actions', 'leave']],
    ['missing with all above it', ['channels', 'fax', 'messages', 'text']],
    ['inherited', ['actions', 'toString']],
    ['inherited by an object on the way', ['actions', 'constructor', 'assign']],
    ['a property of a string', ['actions', 'greeting', 'at']],
    ['no function', ['actions', 'greeting']],
    ['the module itself', []],
  ])('but not when it is %s', async (_what, path) => {
    expect(await sandbox.run(callRun(integration, { path }))).toMatchObject({
      status: 'failed',
      reason: 'error',
      error: { message: `There is no function ${['exports', ...path].join('.')}` },
    })
  })
})

test('a function that need not be there may be missing, and must be right when it is there', async () => {
  const bundle = bot(`exports.register = () => { throw new Error('refused') }`)
  expect(await resultOf(bundle, { path: ['unregister'], optional: true })).toEqual({})
  const outcome = await sandbox.run(callRun(bundle, { path: ['register'], optional: true }))
  expect(outcome).toMatchObject({ status: 'failed', error: { message: 'refused' } })
})

describe('its arguments', () => {
  const names = `exports.handler = async (given) => Object.keys(given).sort()`

  test('is the argument with a client, a logger and the environment', async () => {
    expect(await resultOf(bot(names), { argument: { request: {} } })).toEqual(['client', 'env', 'logger', 'request'])
  })

  test('is the argument alone when it is to be passed as it is', async () => {
    expect(await resultOf(bot(names), { argument: { request: {} }, addsContext: false })).toEqual(['request'])
  })

  test('lets it call the platform and write the log', async () => {
    const calls: HostCall[] = []
    const bundle = bot(`exports.handler = async ({ client, logger, request }) => {
      const { message } = await client.createMessage({ text: request.text })
      logger.warn('made', message.id) }`)
    const outcome = await sandbox.run(
      callRun(
        bundle,
        { argument: { request: { text: 'x' } } },
        {
          host: async (call) => {
            calls.push(call)
            return ok({ message: { id: 'msg_1' } })
          },
        },
      ),
    )
    expect(calls).toEqual([{ method: 'POST', path: '/v1/chat/messages', body: { text: 'x' } }])
    expect(outcome.logs).toMatchObject([{ level: 'warn', message: 'made msg_1' }])
  })

  test('has the environment of its own bundle, which is constant', async () => {
    const code = `exports.handler = async ({ env }) => { try { env.SECRET = 'mine' } catch {}; return env.SECRET ?? 'none' }`
    const first: Bundle = { ...bot(code), environment: { SECRET: 'first' } }
    const second: Bundle = { ...bot(code), environment: { SECRET: 'second' } }
    const results = [first, second, bot(code), first].map((bundle) => resultOf(bundle, {}))
    expect(await Promise.all(results)).toEqual(['first', 'second', 'none', 'first'])
  })
})

test('a call that throws fails with what it threw', async () => {
  const bundle = bot(`exports.register = async () => { throw new RangeError('no such account') }`)
  expect(await sandbox.run(callRun(bundle, { path: ['register'] }))).toMatchObject({
    status: 'failed',
    reason: 'error',
    error: { name: 'RangeError', message: 'no such account', stack: expect.stringContaining('bot.js:1') },
  })
})

test('a call within another run shares its isolate', async () => {
  const bundle = bot(`let count = 0
    exports.register = async ({ client }) => { count += 1; return (await client.getMessage({ id: 'nested' })).count }
    exports.handler = async ({ client }) => { await client.getMessage({ id: 'x' }); return { count: ++count } }`)
  const outer = callRun(
    bundle,
    { path: ['register'] },
    {
      limits: { hostCalls: 2 },
      host: async () => {
        const inner = await sandbox.run(callRun(bundle, { within: outer.id }, { host: echo }))
        return inner.status === 'done' ? ok(inner.result) : { status: 500, body: { message: 'nested' } }
      },
    },
  )
  expect(done(await sandbox.run(outer)).result).toBe(2)
})

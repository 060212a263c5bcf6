import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Bundle, Limits, Outcome } from '#sandbox/protocol/contract.ts'
import {
  actionRun,
  bot,
  botThat,
  callRun,
  done,
  echo,
  logged,
  messageRun,
  ok,
  openTestSandbox,
  patientHost,
  sdkBot,
  type TestSandbox,
} from '../fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

/** The function that a failed run names. */
function atFault(outcome: Outcome): string | undefined {
  if (outcome.status !== 'failed') throw new Error(`The run did not fail: ${JSON.stringify(outcome)}`)
  return outcome.hook
}

/** A bot that sends a message, with these bodies of its hooks. */
function sending(hooks: Record<string, string>): Bundle {
  const all = { afterIncomingMessage: `await client.createMessage({ text: 'x' })`, ...hooks }
  const declared = Object.entries(all).map(([name, body]) => `async ${name}({ client, event }) { ${body} }`)
  return bot(`const loop = () => { for (;;); }; exports.hooks = { ${declared.join(', ')} }`)
}

describe('a failure names the function of the bundle that threw:', () => {
  const fails = `throw new Error('no')`

  test.each([
    ['a hook', 'beforeIncomingMessage', sending({ beforeIncomingMessage: fails })],
    [
      'the second of two',
      'afterIncomingMessage',
      bot(`exports.hooks = { afterIncomingMessage: [() => {}, () => { ${fails} }] }`),
    ],
    ['one that comes after the others', 'afterTurnEnd', sending({ afterTurnEnd: fails })],
    [
      'one before what is sent, and not the one that sends',
      'beforeOutgoingMessage',
      sending({ beforeOutgoingMessage: fails }),
    ],
    ['one after what was sent', 'afterOutgoingMessage', sending({ afterOutgoingMessage: fails })],
    [
      'the one that goes on to fail after it caught that',
      'afterIncomingMessage',
      sending({
        beforeOutgoingMessage: fails,
        afterIncomingMessage: `await client.createMessage({}).catch(() => {}); ${fails}`,
      }),
    ],
    [
      'the one that used a client in the wrong way',
      'afterIncomingMessage',
      sending({ afterIncomingMessage: 'await client.nothing()' }),
    ],
    ['what a state can not hold, no one', undefined, sending({ afterIncomingMessage: 'event.state.x = 1n' })],
  ])('%s', async (_what, hook, bundle) => {
    expect(atFault(await sandbox.run(messageRun(bundle)))).toBe(hook)
  })

  test('an action', async () => {
    const bundle = bot(`exports.actions = { greet() { ${fails} } }`)
    expect(atFault(await sandbox.run(actionRun(bundle, { name: 'greet', input: {} })))).toBe('actions.greet')
  })

  test.each([
    ['register', ['register']],
    ['a function of a channel', ['channels', 'direct', 'messages', 'text']],
  ])('%s', async (_what, path) => {
    const bundle = bot(`exports.register = () => { ${fails} }
      exports.channels = { direct: { messages: { async text() { ${fails} } } } }`)
    expect(atFault(await sandbox.run(callRun(bundle, { path })))).toBe(path.join('.'))
  })

  test('the handler of a bundle of the SDK', async () => {
    expect(atFault(await sandbox.run(callRun(sdkBot(`exports.handler = async () => { ${fails} }`))))).toBe('handler')
  })
})

describe('a failure names the function that was at work when a limit was met:', () => {
  const short: Partial<Limits> = { cpuMilliseconds: 50 }
  const forever = 'await new Promise(() => {})'

  test.each([
    ['a loop in a hook', 'cpu', 'beforeIncomingMessage', sending({ beforeIncomingMessage: 'loop()' }), short],
    ['a loop in a hook within it', 'cpu', 'beforeOutgoingMessage', sending({ beforeOutgoingMessage: 'loop()' }), short],
    [
      'a loop after a hook within it',
      'cpu',
      'afterIncomingMessage',
      sending({ beforeOutgoingMessage: '', afterIncomingMessage: 'await client.createMessage({}); loop()' }),
      short,
    ],
    [
      'a loop after two that overlapped',
      'cpu',
      'afterIncomingMessage',
      sending({
        beforeOutgoingMessage: 'await null',
        afterIncomingMessage: 'await Promise.all([client.createMessage({}), client.createMessage({})]); loop()',
      }),
      short,
    ],
    [
      'a hook that waits for ever',
      'timeout',
      'afterTurnEnd',
      sending({ afterTurnEnd: forever }),
      { wallMilliseconds: 200 },
    ],
    [
      'a hook that fills the heap',
      'memory',
      'afterOutgoingMessage',
      sending({ afterOutgoingMessage: 'const all = []; for (;;) all.push(new Array(1000).fill(0.5))' }),
      { memoryMegabytes: 16, cpuMilliseconds: 10_000 },
    ],
  ])('%s', async (_what, reason, hook, bundle, limits) => {
    expect(await sandbox.run(messageRun(bundle, { limits }))).toMatchObject({ status: 'failed', reason, hook })
  })

  test('an action, and the hook that called it', async () => {
    const bundle = bot(`exports.actions = { work() { for (;;); } }
      exports.hooks = { async afterIncomingMessage({ client }) { await client.callAction({ type: 'work' }) } }`)
    let called: Promise<Outcome> | undefined
    const run = messageRun(bundle, {
      limits: short,
      host: async () => {
        called = sandbox.run(actionRun(bundle, { name: 'work', input: {}, within: run.id }, { limits: short }))
        await called
        return ok({})
      },
    })
    expect(atFault(await sandbox.run(run))).toBe('afterIncomingMessage')
    expect(atFault(await called!)).toBe('actions.work')
  })

  test('no hook, when the module itself took too long', async () => {
    const outcome = await sandbox.run(messageRun(bot('for (;;);'), { limits: { loadMilliseconds: 50 } }))
    expect(outcome).toMatchObject({ status: 'failed', error: { name: 'LoadLimitError' } })
    expect(atFault(outcome)).toBe(undefined)
  })

  test('a bot whose hooks stop each of its messages does not flood the log with their names', async () => {
    const looping = sending({
      beforeOutgoingMessage: `event.state.count = (event.state.count ?? 0) + 1; return { stop: true }`,
      afterIncomingMessage: `for (let i = 0; i < 3000; i += 1) await client.createMessage({})`,
    })
    expect(done(await sandbox.run(messageRun(looping))).state['count']).toBe(3000)
  })
})

/** A bot that sends so many messages without waiting for any, and fails at once. */
function asksAndFails(times: number): Bundle {
  return botThat(`for (let i = 0; i < ${times}; i += 1) void client.createMessage({ i }); throw new Error('early')`)
}

describe('calls in flight of a run that fails', () => {
  test('is carried out, in order, though it did not wait', async () => {
    for (let round = 0; round < 10; round += 1) {
      const sent: unknown[] = []
      const outcome = await sandbox.run(
        messageRun(asksAndFails(3), {
          host: async (call) => {
            sent.push(call.body)
            return echo(call)
          },
        }),
      )
      expect([outcome.status, sent]).toEqual(['failed', [{ i: 0 }, { i: 1 }, { i: 2 }]])
    }
  })

  test('is dropped where it still waits for its turn', async () => {
    const { host, calls } = patientHost()
    const outcome = await sandbox.run(messageRun(asksAndFails(5), { host, limits: { hostCallsAtOnce: 2 } }))
    expect([outcome.status, calls.length]).toEqual(['failed', 2])
    expect(logged(outcome)).toEqual([])
  })
})

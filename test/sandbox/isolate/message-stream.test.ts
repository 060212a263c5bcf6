import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HostCall, Limits } from '#sandbox/protocol/contract.ts'
import {
  actionRun,
  bot,
  botThat,
  done,
  logged,
  messageRun,
  ok,
  openTestSandbox,
  patientHost,
  type TestSandbox,
} from '../fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

const actions = '/v1/chat/actions'

interface Signal {
  type: 'delta' | 'abort'
  streamId: string
  createdAt: string
  sequence: number
  delta: string
}

/** The signal of a call that publishes one. */
const signalOf = ({ body }: HostCall) => (body as unknown as { input: { signal: Signal } }).input.signal

/** A short description of a call. */
function brief(call: HostCall): string {
  if (call.path !== actions) return `message ${(call.body as { payload: { text: string } }).payload.text}`
  const { type, sequence, delta } = signalOf(call)
  return type === 'delta' ? `${sequence} ${delta}` : type
}

const isSecondDelta = (call: HostCall) => call.path === actions && signalOf(call).sequence === 1

/** Runs a bot against a platform that answers at once. */
async function run(
  code: string,
  { limits, fails }: { limits?: Partial<Limits>; fails?: (call: HostCall) => boolean } = {},
) {
  const calls: HostCall[] = []
  const host = async (call: HostCall) => {
    calls.push(call)
    if (fails?.(call)) return { status: 500, body: { message: 'not now' } }
    return ok(call.path === actions ? { output: {} } : { message: { id: 'msg_1', sent: call.body! } })
  }
  const outcome = await sandbox.run(messageRun(bot(code), { host, ...(limits && { limits }) }))
  return { outcome, calls }
}

/** A bot that streams to a conversation in its `afterIncomingMessage`, with further hooks beside it. */
const streaming = (body: string, hooks = '') => `exports.hooks = {
  async afterIncomingMessage({ client, logger }) { const stream = client.streamMessage('conv_1'); ${body} },
  ${hooks}
}`

describe('a stream', () => {
  test('sends its deltas in sequence, and becomes the message with all that was written', async () => {
    const before = Date.now()
    const { calls, outcome } = await run(
      streaming(`
        await stream.write('one ')
        await stream.write('two ')
        await stream.write('three')
        const { message } = await stream.end()
        logger.info(stream.id, message.id)`),
    )
    expect(logged(outcome)).toEqual(['evt_1/1 msg_1'])
    const { createdAt } = signalOf(calls[0]!)
    expect(createdAt).toMatch(/Z$/)
    expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before)
    const delta = (sequence: number, text: string) => ({
      method: 'POST',
      path: actions,
      body: {
        type: 'chat:publishMessageStream',
        input: {
          conversationId: 'conv_1',
          signal: { type: 'delta', streamId: 'evt_1/1', createdAt, sequence, delta: text },
        },
      },
    })
    expect(calls).toEqual([
      delta(0, 'one '),
      delta(1, 'two '),
      delta(2, 'three'),
      {
        method: 'POST',
        path: '/v1/chat/messages',
        body: {
          conversationId: 'conv_1',
          type: 'text',
          payload: { text: 'one two three', metadata: { streamId: 'evt_1/1' } },
        },
      },
    ])
  })

  test('becomes the message that it is ended with, which keeps its own metadata', async () => {
    const { calls } = await run(
      streaming(`await stream.end({
        conversationId: 'conv_2', type: 'markdown', tags: { a: 'b' }, payload: { markdown: '*m*', metadata: { mine: 1, streamId: 'x' } },
      })`),
    )
    expect(calls.map(({ body }) => body)).toEqual([
      {
        conversationId: 'conv_1',
        type: 'markdown',
        tags: { a: 'b' },
        payload: { markdown: '*m*', metadata: { mine: 1, streamId: 'evt_1/1' } },
      },
    ])
  })

  test('can be aborted, after what was written', async () => {
    const { calls } = await run(streaming(`stream.write('half'); await stream.abort()`))
    expect(calls.map(brief)).toEqual(['0 half', 'abort'])
    expect(signalOf(calls[1]!)).toEqual({ type: 'abort', streamId: 'evt_1/1' })
  })

  test('has an id of its own, the same when its run is repeated', async () => {
    const body = `logger.info(client.streamMessage('a').id, client.streamMessage('b').id, stream.id)`
    const runs = [await run(streaming(body)), await run(streaming(body))]
    for (const { outcome } of runs) expect(logged(outcome)).toEqual(['evt_1/2 evt_1/3 evt_1/1'])
    const action = bot(`exports.actions = { go: ({ client, logger }) => logger.info(client.streamMessage('a').id) }`)
    expect(logged(await sandbox.run(actionRun(action, { name: 'go', input: {} })))).toEqual(['evt_1/callAction:1/1'])
  })

  test.each(['write', 'end', 'abort'])('refuses to %s when it was ended or aborted', async (method) => {
    for (const [last, word] of [
      ['end', 'ended'],
      ['abort', 'aborted'],
    ] as const) {
      const { calls, outcome } = await run(
        streaming(`
          await stream.write('a')
          stream.${last}()
          await stream.${method}('b').catch((error) => logger.info(error.name, error.message))`),
      )
      expect(logged(outcome)).toEqual([expect.stringMatching(`^Error The message stream evt_1/1 has been ${word}`)])
      expect(calls).toHaveLength(2)
    }
  })

  test.each([
    [
      'client.streamMessage({ conversationId: "conv_1" })',
      'The argument of client.streamMessage must be the id of a conversation',
    ],
    ['await stream.write(1)', 'The argument of stream.write must be a string'],
    ['await stream.end("text")', 'stream.end takes { type, payload, tags }, or no argument to send the written text'],
  ])('refuses %s', async (call, message) => {
    const { calls, outcome } = await run(streaming(call))
    expect(outcome).toMatchObject({ status: 'failed', reason: 'error', error: { name: 'TypeError', message } })
    expect(calls).toEqual([])
  })
})

describe('writes without await', () => {
  test('keeps its order, and is joined while a delta is under way', async () => {
    const { host, calls, answer } = patientHost()
    const bundle = botThat(`
      const stream = client.streamMessage('conv_1')
      const sent = []
      const write = (delta) => stream.write(delta).then(() => logger.info('sent', delta))
      const first = write('a')
      await new Promise((resolve) => setTimeout(resolve))
      for (const delta of ['b', 'c', 'd']) sent.push(write(delta))
      await first
      await Promise.all(sent)
      await write('e')`)
    const outcome = sandbox.run(messageRun(bundle, { host }))
    const crossed = () => calls.map(brief)
    await expect.poll(crossed).toEqual(['0 a'])
    answer(0)
    await expect.poll(crossed).toEqual(['0 a', '1 bcd'])
    answer(1)
    await expect.poll(crossed).toEqual(['0 a', '1 bcd', '2 e'])
    answer(2)
    expect(logged(await outcome)).toEqual(['sent a', 'sent b', 'sent c', 'sent d', 'sent e'])
  })

  test('takes a few calls however small its parts are', async () => {
    const { calls, outcome } = await run(
      streaming(
        `for (let n = 0; n < 5000; n += 1) { stream.write('x'); if (n % 100 === 0) await null }; await stream.end()`,
      ),
    )
    expect(outcome.status).toBe('done')
    expect(calls.length).toBeLessThan(50)
    const deltas = calls.slice(0, -1).map(signalOf)
    expect(deltas.map(({ sequence }) => sequence)).toEqual(deltas.map((_, index) => index))
    expect(deltas.map(({ delta }) => delta).join('')).toBe('x'.repeat(5000))
    expect(brief(calls.at(-1)!)).toBe(`message ${'x'.repeat(5000)}`)
  })

  test('is sent before the message, which keeps its place among the messages', async () => {
    const { host, calls, answer } = patientHost()
    const bundle = botThat(`
      const stream = client.streamMessage('conv_1')
      stream.write('a')
      stream.end()
      client.createMessage({ payload: { text: 'later' } })`)
    const outcome = sandbox.run(messageRun(bundle, { host }))
    await expect.poll(() => calls.map(brief)).toEqual(['0 a'])
    answer(0)
    await expect.poll(() => calls.map(brief)).toEqual(['0 a', 'message a', 'message later'])
    for (const index of [1, 2]) answer(index)
    done(await outcome)
  })

  test('is sent before the run ends', async () => {
    const { calls, outcome } = await run(streaming(`stream.write('a')`))
    expect(outcome.status).toBe('done')
    expect(calls.map(brief)).toEqual(['0 a'])
  })
})

describe('a delta that the platform refuses', () => {
  test('is an error for who wrote it, and the message is whole', async () => {
    const { calls, outcome } = await run(
      streaming(`
        for (const delta of ['a', 'b', 'c']) await stream.write(delta).catch((error) => logger.info(delta, error.message))
        await stream.end()`),
      { fails: isSecondDelta },
    )
    expect(logged(outcome)).toEqual(['b not now'])
    expect(calls.map(brief)).toEqual(['0 a', '1 b', '2 c', 'message abc'])
  })

  test('is logged when code does not await it', async () => {
    const { outcome } = await run(streaming(`await stream.write('a'); stream.write('b')`), { fails: isSecondDelta })
    expect(outcome.status).toBe('done')
    expect(outcome.logs).toMatchObject([{ level: 'error', message: expect.stringContaining('not now') }])
  })
})

test('the calls of streams count among those of the run', async () => {
  const { calls, outcome } = await run(streaming(`for (;;) await stream.write('a')`), { limits: { hostCalls: 3 } })
  expect(outcome).toMatchObject({ status: 'failed', reason: 'hostCalls' })
  expect(calls).toHaveLength(3)
})

describe('hooks', () => {
  test('run for the message and not for the deltas, and cannot cut the message off from its stream', async () => {
    const { calls, outcome } = await run(
      streaming(
        `await stream.write('a'); const { message } = await stream.end(); logger.info('got', message.id)`,
        `beforeOutgoingMessage({ message, logger }) {
          logger.info('before', message.payload.text)
          return { data: { ...message, payload: { text: 'replaced' } } }
        },
        afterOutgoingMessage({ message, logger }) { logger.info('after', message.id) },
        beforeCallAction({ logger }) { logger.info('action') },
        afterCallAction({ logger }) { logger.info('action') },`,
      ),
    )
    expect(logged(outcome)).toEqual(['before a', 'after msg_1', 'got msg_1'])
    expect(calls.at(-1)!.body).toMatchObject({ payload: { text: 'replaced', metadata: { streamId: 'evt_1/1' } } })
  })

  test('that stop the message abort the stream', async () => {
    const { calls, outcome } = await run(
      streaming(
        `await stream.write('a'); logger.info(await stream.end())`,
        `beforeOutgoingMessage: () => ({ stop: true })`,
      ),
    )
    expect(logged(outcome)).toEqual(['{ message: null }'])
    expect(calls.map(brief)).toEqual(['0 a', 'abort'])
  })

  test('may stream themselves, and run no hooks for that', async () => {
    const { calls, outcome } = await run(
      streaming(
        `await client.createMessage({ payload: { text: 'main' } })`,
        `async beforeOutgoingMessage({ client }) {
          const aside = client.streamMessage('conv_1')
          await aside.write('aside')
          await aside.end()
        }`,
      ),
    )
    expect(outcome.status).toBe('done')
    expect(calls.map(brief)).toEqual(['0 aside', 'message aside', 'message main'])
    expect(signalOf(calls[0]!).streamId).toBe('evt_1/2')
  })
})

describe('tampering', () => {
  test.each([
    ['JSON', `JSON.parse = JSON.stringify = () => { throw new Error('tampered') }`],
    ['Object.prototype', `Object.prototype.toJSON = () => 'tampered'; Object.prototype.streamId = 'tampered'`],
    [
      'Promise',
      `Promise.prototype.then = Promise.prototype.catch = Promise.resolve = function () { throw new Error('tampered') }`,
    ],
    [
      'Object',
      `for (const name of Object.getOwnPropertyNames(Object)) try { Object[name] = () => { throw new Error('tampered') } } catch {}`,
    ],
    [
      'Date and Error',
      `Date.prototype.toISOString = () => 'tampered'; globalThis.Date = globalThis.Error = function () { throw new Error('tampered') }`,
    ],
    [
      'Array and String',
      `const fail = () => { throw new Error('tampered') }
      String.prototype.slice = String.prototype.concat = Array.prototype.push = Array.prototype.join = fail
      Array.prototype[Symbol.iterator] = fail`,
    ],
  ])('with %s changes no delta', async (_what, code) => {
    const { calls } = await run(
      streaming(`
        ${code}
        const late = client.streamMessage('conv_1')
        await late.write('a')
        await late.write('b')
        await late.abort()`),
    )
    const common = { type: 'delta', streamId: 'evt_1/2', createdAt: expect.stringMatching(/Z$/) }
    expect(calls.map(signalOf)).toEqual([
      { ...common, sequence: 0, delta: 'a' },
      { ...common, sequence: 1, delta: 'b' },
      { type: 'abort', streamId: 'evt_1/2' },
    ])
  })

  test('with a stream has no effect, and its functions work without it', async () => {
    const { calls, outcome } = await run(
      streaming(`
        stream.id = 'x'
        stream.write = null
        delete stream.end
        const { write, abort } = stream
        await write('a')
        await abort()
        logger.info(stream.id, typeof stream.write, typeof stream.end)`),
    )
    expect(logged(outcome)).toEqual(['evt_1/1 function function'])
    expect(calls.map(brief)).toEqual(['0 a', 'abort'])
  })
})

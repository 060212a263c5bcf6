import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HostCall, Outcome } from '#sandbox/protocol/contract.ts'
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

const interrupting = async () => ({ interrupted: 'as the host says' })

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

/** The calls of a hook's body to the host. */
async function callsOf(body: string) {
  const calls: HostCall[] = []
  const run = messageRun(botThat(body), {
    host: async (call) => {
      calls.push(call)
      return ok({})
    },
  })
  const outcome = await sandbox.run(run)
  return { calls, outcome }
}

describe('a call', () => {
  test('becomes method, path and body, or query', async () => {
    const { calls } = await callsOf(`
      await client.createMessage({ text: 'a' })
      await client.listMessages({ nextToken: 't', limit: 3 })
      await client.listMessages()
      await client.updateMessage({ id: 'm1', text: 'b' })
      await client.deleteMessage({ id: 'm2' })`)
    expect(calls).toEqual([
      { method: 'POST', path: '/v1/chat/messages', body: { text: 'a' } },
      { method: 'GET', path: '/v1/chat/messages', query: { nextToken: 't', limit: 3 } },
      { method: 'GET', path: '/v1/chat/messages' },
      { method: 'PUT', path: '/v1/chat/messages/m1', body: { text: 'b' } },
      { method: 'DELETE', path: '/v1/chat/messages/m2' },
    ])
  })

  test.each([
    ['a/b?c#d', '/v1/chat/messages/a%2Fb%3Fc%23d'],
    ['..', '/v1/chat/messages/%2E%2E'],
    ['.', '/v1/chat/messages/%2E'],
    ['é', '/v1/chat/messages/%C3%A9'],
  ])('keeps the path parameter %j one segment', async (id, path) => {
    const { calls } = await callsOf(`await client.getMessage({ id: ${JSON.stringify(id)} })`)
    expect(calls).toEqual([{ method: 'GET', path }])
  })

  test.each(['{}', "{ id: '' }", '{ id: null }', '{ id: {} }', "'text'", '[]', 'null'])(
    'is not made with the input %s, which lacks its path parameter',
    async (input) => {
      const { calls, outcome } = await callsOf(`await client.getMessage(${input})`)
      expect(calls).toEqual([])
      expect(outcome).toMatchObject({ status: 'failed', reason: 'error', error: { name: 'TypeError' } })
    },
  )

  test('takes no path parameter from the prototype', async () => {
    const { calls } = await callsOf(`Object.prototype.id = 'planted'; await client.getMessage({}).catch(() => {})`)
    expect(calls).toEqual([])
  })

  test('drops keys that would change prototypes', async () => {
    const { calls } = await callsOf(`await client.createMessage(JSON.parse('{ "a": { "__proto__": { "b": 1 } } }'))`)
    const { a } = calls[0]!.body as { a: object }
    expect(Object.getOwnPropertyNames(a)).toEqual([])
  })

  test('can be taken from the client by its name', async () => {
    const { calls } = await callsOf(`const { createMessage } = client; await createMessage({ text: 'a' })`)
    expect(calls).toHaveLength(1)
  })
})

describe('a refusal by the platform', () => {
  const body = {
    id: 'err_1',
    code: 404,
    type: 'ResourceNotFound',
    message: 'There is no such message',
    metadata: { a: 1 },
  }

  test('is an error with what the platform said', async () => {
    const bundle = botThat(`
      try { await client.getMessage({ id: 'm' }) } catch (error) {
        const { name, message, id, code, type, metadata } = error
        logger.info('%j', { isError: error instanceof Error, name, message, id, code, type, metadata })
      }`)
    const outcome = await sandbox.run(messageRun(bundle, { host: async () => ({ status: 404, body }) }))
    expect(JSON.parse(logged(outcome)[0]!)).toEqual({ isError: true, name: 'ApiError', ...body })
  })

  test('fails the run when it is not caught, and has the place of the call', async () => {
    const bundle = bot(`exports.hooks = { async afterIncomingMessage({ client }) {
  await client.getMessage({ id: 'm' })
} }`)
    const outcome = await sandbox.run(messageRun(bundle, { host: async () => ({ status: 404, body }) }))
    expect(outcome).toMatchObject({
      status: 'failed',
      reason: 'error',
      error: { name: 'ApiError', message: body.message },
    })
    expect(outcome).toHaveProperty('error.stack', expect.stringContaining('bot.js:2:'))
  })

  test('is an error even when its body says nothing', async () => {
    const bundle = botThat(`await client.getMessage({ id: 'm' })`)
    const outcome = await sandbox.run(messageRun(bundle, { host: async () => ({ status: 502, body: null }) }))
    expect(outcome).toMatchObject({ status: 'failed', error: { name: 'ApiError' } })
    expect(outcome).toHaveProperty('error.message', expect.stringContaining('502'))
  })

  test('is what a host that rejects amounts to, without a word of its error', async () => {
    const bundle = botThat(
      `await client.getMessage({ id: 'm' }).catch((error) => logger.info(error.code, error.message))`,
    )
    const run = messageRun(bundle, { host: () => Promise.reject(new Error('password=hunter2')) })
    const [line] = logged(await sandbox.run(run))
    expect(line).toMatch(/^500 /)
    expect(line).not.toContain('hunter2')
  })
})

describe('the calls of a run', () => {
  test('cross in the order they were made, so many at once as are allowed', async () => {
    const { host, calls, answer } = patientHost()
    const bundle = botThat(`await Promise.all(Array.from({ length: 6 }, (_, n) => client.createMessage({ n })))`)
    const outcome = sandbox.run(messageRun(bundle, { host, limits: { hostCallsAtOnce: 2 } }))
    const order = () => calls.map((call) => (call.body as { n: number }).n)
    await expect.poll(order).toEqual([0, 1])
    answer(1)
    await expect.poll(order).toEqual([0, 1, 2])
    answer(0)
    answer(2)
    await expect.poll(order).toEqual([0, 1, 2, 3, 4])
    for (const index of [3, 4]) answer(index)
    await expect.poll(order).toEqual([0, 1, 2, 3, 4, 5])
    answer(5)
    done(await outcome)
  })

  test('reject with a named error when there are too many, which a bot may survive', async () => {
    const { calls, outcome } = await callsOf(`
      for (let n = 0; n < 60; n += 1) await client.createMessage({ n }).catch((error) => { if (n === 59) logger.info(error.name) })`)
    expect(logged(outcome)).toEqual(['HostCallLimitError'])
    expect(outcome.status).toBe('done')
    expect(calls).toHaveLength(50)
  })

  test('fail the run for their number when it fails of that', async () => {
    const { outcome } = await callsOf(`for (;;) await client.createMessage({})`)
    expect(outcome).toMatchObject({ status: 'failed', reason: 'hostCalls' })
  })

  test('are distinguished from an error that only looks like the limit', async () => {
    const { outcome } = await callsOf(`throw Object.assign(new Error('forged'), { name: 'HostCallLimitError' })`)
    expect(outcome).toMatchObject({ status: 'failed', reason: 'error' })
  })

  test('may not be larger than allowed', async () => {
    const { calls, outcome } = await callsOf(`await client.createMessage({ text: 'x'.repeat(200_000) })`)
    expect(calls).toEqual([])
    expect(outcome).toMatchObject({ status: 'failed', reason: 'hostCalls' })
  })

  test('end before the run does even when code does not await them, with those that follow from them', async () => {
    const { calls, outcome } = await callsOf(`
      client.createMessage({ n: 1 })
      const later = async () => { await client.createMessage({ n: 2 }); await null; await client.createMessage({ n: 3 }) }
      later()`)
    expect(outcome.status).toBe('done')
    expect(calls.map((call) => call.body)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
  })

  test('that code does not await fail nothing when they are refused, but are logged', async () => {
    const bundle = botThat(`client.createMessage({})`)
    const refused = { status: 400, body: { message: 'payload is missing' } }
    const outcome = await sandbox.run(messageRun(bundle, { host: async () => refused }))
    expect(outcome.status).toBe('done')
    expect(outcome.logs).toMatchObject([{ level: 'error', message: expect.stringContaining('payload is missing') }])
  })

  test('that the host interrupts end the run and its callers as interrupted, even when code catches the error', async () => {
    const caught = `await client.callAction({}).catch(() => {}); logger.info('it goes on')`
    const bundle = bot(`exports.hooks = { async afterIncomingMessage({ client, logger }) { ${caught} } }
      exports.actions = { async nested({ client, logger }) { ${caught} } }`)
    const interrupted = { status: 'interrupted', reason: 'as the host says', logs: [] }
    expect(await sandbox.run(messageRun(bundle, { host: interrupting }))).toMatchObject(interrupted)

    let inner: Promise<Outcome> | undefined
    const outer = messageRun(bundle, {
      async host() {
        inner = sandbox.run(actionRun(bundle, { name: 'nested', input: {}, within: outer.id }, { host: interrupting }))
        await inner
        return ok({})
      },
    })
    expect(await sandbox.run(outer)).toMatchObject(interrupted)
    expect(await inner).toMatchObject(interrupted)
    expect((await sandbox.run(messageRun(bundle, { host: async () => ok({}) }))).status).toBe('done')
  })

  test('are not answered any more when the run has ended', async () => {
    const { host, calls, answer } = patientHost()
    const bundle = bot(`
      globalThis.seen = 'nothing'
      exports.hooks = {
        async afterIncomingMessage({ client }) {
          const late = client.createMessage({}).then(() => { globalThis.seen = 'an answer' })
          throw new Error('early')
        },
        afterTurnEnd({ logger }) { logger.info(globalThis.seen) },
      }`)
    expect((await sandbox.run(messageRun(bundle, { host }))).status).toBe('failed')
    expect(calls).toHaveLength(1)
    answer(0)
    expect(logged(await sandbox.run(messageRun(bundle, { stages: [] })))).toEqual(['nothing'])
  })
})

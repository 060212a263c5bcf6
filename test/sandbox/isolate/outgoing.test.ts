import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HostCall } from '#sandbox/protocol/contract.ts'
import { bot, logged, messageRun, ok, openTestSandbox, type TestSandbox } from '../fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

async function run(code: string) {
  const calls: HostCall[] = []
  const host = async (call: HostCall) => {
    calls.push(call)
    return ok(
      call.path === '/v1/chat/actions'
        ? { output: { said: 'platform' } }
        : { message: { id: 'msg_1', sent: call.body! } },
    )
  }
  const outcome = await sandbox.run(messageRun(bot(code), { host }))
  return { outcome, bodies: calls.map((call) => call.body) }
}

describe('createMessage', () => {
  test('runs the hooks before and after it, around the call', async () => {
    const { outcome, bodies } = await run(`exports.hooks = {
      async afterIncomingMessage({ client, logger }) {
        const { message } = await client.createMessage({ text: 'a' })
        logger.info('got', message.id, message.sent.text)
      },
      beforeOutgoingMessage: [
        ({ message, event, state, logger }) => { logger.info('before', message.text, state === event.state); return { data: { text: 'b' } } },
        ({ message, logger }) => logger.info('then', message.text),
      ],
      afterOutgoingMessage: ({ message, logger }) => logger.info('after', message.id),
    }`)
    expect(logged(outcome)).toEqual(['before a true', 'then b', 'after msg_1', 'got msg_1 b'])
    expect(bodies).toEqual([{ text: 'b' }])
  })

  test('is not sent when a hook stops it, and resolves to no message', async () => {
    const { outcome, bodies } = await run(`exports.hooks = {
      async afterIncomingMessage({ client, logger }) { logger.info(await client.createMessage({ text: 'a' })) },
      beforeOutgoingMessage: () => ({ stop: true }),
      afterOutgoingMessage: ({ logger }) => logger.info('after'),
    }`)
    expect(logged(outcome)).toEqual(['{ message: null }'])
    expect(bodies).toEqual([])
  })

  test('runs no hooks for what its hooks send', async () => {
    const { outcome, bodies } = await run(`exports.hooks = {
      async afterIncomingMessage({ client }) { await client.createMessage({ text: 'a' }) },
      async beforeOutgoingMessage({ client }) { await client.createMessage({ text: 'extra' }) },
    }`)
    expect(outcome.status).toBe('done')
    expect(bodies).toEqual([{ text: 'extra' }, { text: 'a' }])
  })

  test('keeps the order of messages, however long their hooks take', async () => {
    const { bodies } = await run(`exports.hooks = {
      async afterIncomingMessage({ client }) {
        client.createMessage({ text: 'slow', wait: 30 })
        client.createMessage({ text: 'fast', wait: 1 })
      },
      beforeOutgoingMessage: ({ message }) => new Promise((resolve) => setTimeout(resolve, message.wait)),
    }`)
    expect(bodies).toMatchObject([{ text: 'slow' }, { text: 'fast' }])
  })

  test('fails with the error of its hook, and lets later messages pass', async () => {
    const { outcome, bodies } = await run(`exports.hooks = {
      async afterIncomingMessage({ client, logger }) {
        const first = client.createMessage({ text: 'bad' })
        const second = client.createMessage({ text: 'good' })
        await first.catch((error) => logger.info(error.message))
        await second
      },
      async beforeOutgoingMessage({ message }) { if (message.text === 'bad') throw new Error('not this one') },
    }`)
    expect(logged(outcome)).toEqual(['not this one'])
    expect(bodies).toEqual([{ text: 'good' }])
  })
})

describe('callAction', () => {
  test('runs the hooks before and after it, around the call', async () => {
    const { outcome, bodies } = await run(`exports.hooks = {
      async afterIncomingMessage({ client, logger }) {
        logger.info(await client.callAction({ type: 'greet', input: { name: 'a' } }))
      },
      beforeCallAction: ({ action }) => ({ data: { ...action, input: { name: 'b' } } }),
      afterCallAction: ({ action, logger }) => {
        logger.info(action.type, action.input.name, action.output.said)
        return { data: { ...action, output: { said: 'hook' } } }
      },
    }`)
    expect(logged(outcome)).toEqual(['greet b platform', "{ output: { said: 'hook' } }"])
    expect(bodies).toEqual([{ type: 'greet', input: { name: 'b' } }])
  })

  test('is not called when a hook stops it, and resolves to an empty output', async () => {
    const { outcome, bodies } = await run(`exports.hooks = {
      async afterIncomingMessage({ client, logger }) { logger.info(await client.callAction({ type: 'greet', input: {} })) },
      beforeCallAction: () => ({ stop: true }),
    }`)
    expect(logged(outcome)).toEqual(['{ output: {} }'])
    expect(bodies).toEqual([])
  })
})

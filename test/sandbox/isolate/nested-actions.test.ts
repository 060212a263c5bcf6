import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Bundle, HostCall, Json, JsonObject, Limits, Outcome } from '#sandbox/protocol/contract.ts'
import { actionRun, bot, done, logged, messageRun, ok, openTestSandbox, type TestSandbox } from '../fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

/** Runs a bundle whose calls of actions are answered by runs within it, as the worker does. */
async function runWithActions(bundle: Bundle, limits: Partial<Limits> = {}) {
  const calls: { by: 'hook' | 'action'; call: HostCall }[] = []
  const nested: Outcome[] = []
  const outer = messageRun(bundle, {
    limits,
    host: async (call) => {
      calls.push({ by: 'hook', call })
      if (call.path !== '/v1/chat/actions') return ok({ message: call.body ?? null })
      const { type, input } = call.body as { type: string; input: JsonObject }
      const run = actionRun(
        bundle,
        { name: type, input, within: outer.id },
        {
          host: async (call) => {
            calls.push({ by: 'action', call })
            return ok({ message: call.body ?? null })
          },
        },
      )
      const outcome = await sandbox.run(run)
      nested.push(outcome)
      return outcome.status === 'done'
        ? ok({ output: outcome.result })
        : { status: 400, body: { message: 'The action failed' } as Json }
    },
  })
  return { outcome: await sandbox.run(outer), nested, calls }
}

test('an action within a run sees the event object of that run, and the replaced one', async () => {
  const { outcome } = await runWithActions(
    bot(`exports.hooks = {
      beforeIncomingMessage: ({ event }) => ({ data: { ...event, mark: 'replaced' } }),
      afterIncomingMessage: async ({ event, client, state, logger }) => {
        const { output } = await client.callAction({ type: 'note', input: { text: 'x' } })
        logger.info(output.mark, event.noted, state.conversation.noted)
      } }
    exports.actions = {
      note({ input, event, state }) { event.noted = input.text; state.conversation.noted = true; return { mark: event.mark } },
    }`),
  )
  expect(logged(outcome)).toEqual(['replaced x true'])
  expect(done(outcome).state).toEqual({ conversation: { noted: true } })
})

test('an action within a run has a client and a log of its own', async () => {
  const { outcome, nested, calls } = await runWithActions(
    bot(`exports.hooks = { async afterIncomingMessage({ client, logger }) {
      logger.info('outer'); await client.callAction({ type: 'send', input: {} }) } }
    exports.actions = { async send({ client, logger }) { logger.info('inner'); await client.createMessage({ text: 'from the action' }) } }`),
  )
  expect(logged(outcome)).toEqual(['outer'])
  expect(nested.map(logged)).toEqual([['inner']])
  expect(calls.map(({ by, call }) => [by, call.path])).toEqual([
    ['hook', '/v1/chat/actions'],
    ['action', '/v1/chat/messages'],
  ])
})

test('an action within a run does not wait for a place among the calls of that run', async () => {
  const { outcome } = await runWithActions(
    bot(`exports.hooks = { async afterIncomingMessage({ client }) { await client.callAction({ type: 'send', input: {} }) } }
    exports.actions = { async send({ client }) { await client.createMessage({}) } }`),
    { hostCallsAtOnce: 1 },
  )
  expect(outcome.status).toBe('done')
})

test('an action within a run draws on the same processor time, and both fail when it is used up', async () => {
  const { outcome, nested } = await runWithActions(
    bot(`exports.hooks = { async afterIncomingMessage({ client }) { await client.callAction({ type: 'spin', input: {} }) } }
    exports.actions = { spin() { for (;;); } }`),
    { cpuMilliseconds: 200 },
  )
  expect(outcome).toMatchObject({ status: 'failed', reason: 'cpu' })
  await expect.poll(() => nested).toMatchObject([{ status: 'failed', reason: 'cpu' }])
})

test('an action within a run draws on the same number of calls', async () => {
  const { outcome } = await runWithActions(
    bot(`exports.hooks = { async afterIncomingMessage({ client, logger }) {
      await client.callAction({ type: 'send', input: {} })
      await client.createMessage({}) } }
    exports.actions = { async send({ client }) { await client.createMessage({}); await client.createMessage({}) } }`),
    { hostCalls: 3 },
  )
  expect(outcome).toMatchObject({ status: 'failed', reason: 'hostCalls' })
})

test('an action within a run that is not in flight is interrupted', async () => {
  const bundle = bot('exports.actions = { go() {} }')
  const outcome = await sandbox.run(actionRun(bundle, { name: 'go', input: {}, within: 'run-of-yesterday' }))
  expect(outcome.status).toBe('interrupted')
})
